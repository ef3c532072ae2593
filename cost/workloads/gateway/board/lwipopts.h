/* lwIP's options: UDP over IPv4 and ARP on one interface, with a kernel or (NO_SYS=1) without. */
#ifndef GATEWAY_LWIPOPTS_H
#define GATEWAY_LWIPOPTS_H

#ifndef NO_SYS
#define NO_SYS 0
#endif

#define LWIP_TCP 0
#define LWIP_UDP 1
#define LWIP_RAW 0
#define LWIP_DHCP 0
#define LWIP_DNS 0
#define LWIP_IPV6 0
#define LWIP_ICMP 1
#define IP_REASSEMBLY 0
#define IP_FRAG 0
#define LWIP_SOCKET 0
#define LWIP_NETIF_API 0

#define ETH_PAD_SIZE 2
#define MEM_ALIGNMENT 4
#define MEM_SIZE (32 * 1024)
#define MEMP_NUM_UDP_PCB 6
#define PBUF_POOL_SIZE 40
#define PBUF_POOL_BUFSIZE 640 /* a block with all headers */
#define LWIP_STATS 1          /* datagrams that lwIP dropped belong into the report */

#if NO_SYS
#define LWIP_NETCONN 0
#define SYS_LIGHTWEIGHT_PROT 0 /* everything runs in the loop */
#else
#define LWIP_NETCONN 1
#define LWIP_SO_RCVTIMEO 1
#define LWIP_TCPIP_CORE_LOCKING 1
#define SYS_LIGHTWEIGHT_PROT 1
#define MEMP_NUM_NETBUF 32
#define MEMP_NUM_NETCONN 6
#define MEMP_NUM_TCPIP_MSG_INPKT 40
#define MEMP_NUM_TCPIP_MSG_API 8
#define TCPIP_THREAD_NAME "tcpip"
#define TCPIP_THREAD_STACKSIZE 512
#define TCPIP_THREAD_PRIO 5
#define TCPIP_MBOX_SIZE 40
#define DEFAULT_UDP_RECVMBOX_SIZE 24
#define DEFAULT_THREAD_STACKSIZE 512
#endif

#endif
