import { startChainstead } from './chainstead-program.ts';
import type { MeasuredProcess } from './measured-process.ts';

/** The worker role. Its chain is only there for its name: no block of it is ever read. */
export function startDeliveryWorker(databaseUrl: string): MeasuredProcess {
  return startChainstead(['start', '--roles', 'worker'], {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', LOG_LEVEL: 'warn' },
  });
}
