/* FreeRTOS 9, 10 and 11 on the board, for the ARM_CM3 port. The recorder's hooks come last, from
 * the header that GATEWAY_HOOK_HEADER names; without it every hook of the kernel stays empty. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "gateway_board.h"

#define configCPU_CLOCK_HZ 25000000ul
#define configTICK_RATE_HZ ((TickType_t)1000)
#define configUSE_PREEMPTION 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configUSE_16_BIT_TICKS 0
#define configIDLE_SHOULD_YIELD 1
#define configMAX_PRIORITIES 8
#define configMINIMAL_STACK_SIZE ((unsigned short)128)
#define configTOTAL_HEAP_SIZE ((size_t)(64 * 1024))
#define configMAX_TASK_NAME_LEN 12
#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1

#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 1
#define configUSE_MALLOC_FAILED_HOOK 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configUSE_TRACE_FACILITY 1
#define configQUEUE_REGISTRY_SIZE 8

#define configUSE_MUTEXES 1
#define configUSE_RECURSIVE_MUTEXES 0
#define configUSE_COUNTING_SEMAPHORES 0
#define configUSE_QUEUE_SETS 0
#define configUSE_CO_ROUTINES 0
#define configMAX_CO_ROUTINE_PRIORITIES 2

#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 6
#define configTIMER_QUEUE_LENGTH 10
#define configTIMER_TASK_STACK_DEPTH 256

#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_uxTaskPriorityGet 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelayUntil 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskGetSchedulerState 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetIdleTaskHandle 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1

#define configKERNEL_INTERRUPT_PRIORITY 255
#define configMAX_SYSCALL_INTERRUPT_PRIORITY GATEWAY_LEVEL_KERNEL_MAXIMUM

#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#define GATEWAY_TEXT_OF(number) #number
#define GATEWAY_TEXT(number) GATEWAY_TEXT_OF(number)
#define configASSERT(condition) \
    do { \
        if (!(condition)) \
            gateway_board_give_up("FreeRTOS: " __FILE__ ":" GATEWAY_TEXT(__LINE__)); \
    } while (0)

#if defined(GATEWAY_HOOK_HEADER) && !defined(__ASSEMBLER__)
#include GATEWAY_HOOK_HEADER
#endif

#endif
