import type { Chain } from '@chainstead/chains';
import { ApiError } from '@chainstead/http';

/** A 400: nothing is known of a contract's logs, and requests may not have them read. */
export class LogsNotIndexedError extends ApiError {
  constructor({ key }: Pick<Chain, 'key'>) {
    super({
      code: 'LOGS_NOT_INDEXED',
      status: 400,
      message: `logs of ${key} are not indexed, and ON_DEMAND_MAX_CALLS=0 keeps requests from having them read from a node`,
      details: { reason: 'not-indexed', configuration_key: 'ON_DEMAND_MAX_CALLS' },
    });
  }
}
