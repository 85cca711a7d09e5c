import type { Chain } from '@chainstead/chains';
import { ApiError } from './api-error.ts';

/**
 * A 400: what was asked about is known but not indexed here. Says which key of the configuration turns it on. Not a 404, which
 * clients of the hosted provider take for "there is none".
 */
export class NotIndexedError extends ApiError {
  /**
   * @param what begins the sentence: `Chain eth`
   * @param key of the configuration
   * @param change what to do with it: `add it to CHAINS (CHAINS=eth,…)`
   */
  constructor(what: string, key: string, change: string) {
    super({
      code: 'NOT_INDEXED',
      status: 400,
      message: `${what} is not indexed here: ${change} and restart`,
      details: { reason: 'not-indexed', configuration_key: key },
    });
  }

  static ofChain(chain: Pick<Chain, 'key'>): NotIndexedError {
    return new NotIndexedError(`Chain ${chain.key}`, 'CHAINS', addTo('CHAINS', chain.key));
  }

  /** @param key of the configuration that lists datasets */
  static ofDataset(dataset: string, key = 'DATASETS'): NotIndexedError {
    return new NotIndexedError(`Dataset ${dataset}`, key, addTo(key, dataset));
  }
}

function addTo(key: string, item: string): string {
  return `add it to ${key} (${key}=${item},…)`;
}
