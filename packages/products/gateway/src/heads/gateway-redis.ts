import { errorText, type Logger } from '@chainstead/core';
import { Redis } from 'ioredis';

/** Reconnects; meanwhile commands fail immediately. Close it with `disconnect()`. */
export function openGatewayRedis(options: {
  readonly redisUrl: string;
  readonly logger: Logger;
  /** For one command. Milliseconds. @default 1000 */
  readonly timeoutMs?: number;
}): Redis {
  const redis = new Redis(options.redisUrl, {
    connectionName: 'chainstead-gateway',
    commandTimeout: options.timeoutMs ?? 1_000,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, 2_000),
    enableAutoPipelining: true,
  });
  let isLost = false;
  redis.on('ready', () => {
    isLost = false;
  });
  redis.on('error', (error) => {
    if (isLost) return;
    isLost = true;
    options.logger.warn({ error: errorText(error) }, "Connection to the gateway's Redis lost");
  });
  return redis;
}
