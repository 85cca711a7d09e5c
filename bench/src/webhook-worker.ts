import { startChainstead } from './chainstead-program.ts';
import type { MeasuredProcess } from './measured-process.ts';

/** The worker role, of this checkout or of another's program. Its chain is only there for its name: no block of it is ever read. */
export function startDeliveryWorker(databaseUrl: string, program?: string): MeasuredProcess {
  const place = {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', LOG_LEVEL: 'warn' },
  };
  return startChainstead(['start', '--roles', 'worker'], place, program);
}
