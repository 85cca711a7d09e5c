import type { DocumentExamples } from '@chainstead/http';

export const NAME_EXAMPLES: DocumentExamples = {
  resolveENSDomain: { domain: 'vitalik.eth' },
  resolveAddress: { address: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' },
  resolveDomain: { domain: 'brad.crypto' },
  resolveAddressToDomain: { address: '0x8aad44321a86b170879d7a244c1e8d360c99dda8' },
};
