import { createLogger, createMetricsRegistry } from '@chainstead/core';
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ApiEnv } from '../api-context.ts';
import { UnavailableError } from '../errors/api-error.ts';
import { errorAnswer } from './error-answer.ts';
import { requestObserver } from './request-observer.ts';

test('a response that is not available yet is one line at info, with its reason', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  const app = new Hono<ApiEnv>();
  app.use(requestObserver({ logger, metrics: createMetricsRegistry() }));
  app.onError(errorAnswer(logger));
  app.get('/later', () => {
    throw new UnavailableError('eth has no block yet');
  });
  const answer = await app.request('/later');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  expect(lines).toMatchObject([
    { level: 'info', msg: 'Request answered', status: 503, reason: 'eth has no block yet' },
  ]);
  expect(JSON.stringify(lines)).not.toContain('stack');
});
