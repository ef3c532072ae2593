/* lwIP's objects on FreeRTOS. Plain pointers, so that lwIP is compiled without the kernel's headers
 * and once for all arms. */
#ifndef GATEWAY_ARCH_SYS_ARCH_H
#define GATEWAY_ARCH_SYS_ARCH_H

#include <stddef.h>

typedef void *sys_mbox_t;
typedef void *sys_sem_t;
typedef void *sys_mutex_t;
typedef void *sys_thread_t;

#define sys_mbox_valid(mailbox) (*(mailbox) != NULL)
#define sys_mbox_set_invalid(mailbox) (*(mailbox) = NULL)
#define sys_sem_valid(semaphore) (*(semaphore) != NULL)
#define sys_sem_set_invalid(semaphore) (*(semaphore) = NULL)
#define sys_mutex_valid(mutex) (*(mutex) != NULL)
#define sys_mutex_set_invalid(mutex) (*(mutex) = NULL)

#endif
