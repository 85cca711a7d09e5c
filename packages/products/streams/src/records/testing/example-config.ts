import { parseChainId } from '@chainstead/core';
import { DEFAULT_CONFIG } from '../../routes/stream-checks.ts';
import type { StreamConfig } from '../../stream.ts';

/** A minimal stream. */
export function exampleConfig(): StreamConfig {
  return {
    ...DEFAULT_CONFIG,
    webhookUrl: 'https://example.com/webhook',
    description: 'Example',
    chainIds: [parseChainId(1)],
    includeNativeTxs: true,
  };
}
