#ifndef GATEWAY_PADDING_H
#define GATEWAY_PADDING_H

extern unsigned char gateway_padding_data[4160];
void gateway_padding_code(void);

#endif
