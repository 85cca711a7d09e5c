import { startChainstead } from './chainstead-program.ts';
import type { MeasuredProcess } from './measured-process.ts';

/** Starts the worker role. It needs the name of a chain, but reads no block. */
export function startDeliveryWorker(databaseUrl: string): MeasuredProcess {
  const place = {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', LOG_LEVEL: 'warn' },
  };
  return startChainstead(['start', '--roles', 'worker'], place);
}
