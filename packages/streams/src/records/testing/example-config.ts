import { parseChainId } from '@chainstead/core';
import { DEFAULT_CONFIG } from '../../default-config.ts';
import type { StreamConfig } from '../../stream.ts';

/** The least that a stream is. */
export function exampleConfig(): StreamConfig {
  return {
    ...DEFAULT_CONFIG,
    webhookUrl: 'https://example.com/webhook',
    description: 'Example',
    chainIds: [parseChainId(1)],
    includeNativeTxs: true,
  };
}
