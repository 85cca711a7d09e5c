import { type Chain, environmentSuffix } from '@chainstead/chains';
import { ApiError } from '../errors/api-error.ts';

/**
 * A 400: the requested data is known but not indexed here. The message names the setting that enables it. Not a 404,
 * which clients of the hosted API understand as "there is none".
 */
export class NotIndexedError extends ApiError {
  /**
   * @param what start of the sentence: `Chain eth`
   * @param key the setting
   * @param change the change to make: `add it to CHAINS (CHAINS=eth,…)`
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

  /** @param key the setting that lists datasets */
  static ofDataset(dataset: string, key = 'DATASETS'): NotIndexedError {
    return new NotIndexedError(`Dataset ${dataset}`, key, addTo(key, dataset));
  }

  /** @param setting the setting of the chain without its suffix */
  static ofEveryBlock(
    { dataset, setting }: { readonly dataset: string; readonly setting: string },
    chain: Pick<Chain, 'key'>,
  ): NotIndexedError {
    const key = `${setting}_${environmentSuffix(chain)}`;
    return new NotIndexedError(`Dataset ${dataset} of chain ${chain.key}`, key, `set ${key}=all`);
  }
}

function addTo(key: string, item: string): string {
  return `add it to ${key} (${key}=${item},…)`;
}
