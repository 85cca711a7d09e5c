import { startChainstead } from './chainstead-program.ts';
import type { MeasuredProcess } from './measured-process.ts';

/** The worker role with a queue in Redis, or in Postgres. Its chain is only there for its name: all bodies are made. */
export function startDeliveryWorker(databaseUrl: string, redisUrl: string | null): MeasuredProcess {
  return startChainstead(['start', '--roles', 'worker'], {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { WEBHOOK_ALLOW_PRIVATE: 'true', LOG_LEVEL: 'warn', ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) },
  });
}
