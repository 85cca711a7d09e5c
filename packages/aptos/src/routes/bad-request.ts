import { z } from '@hono/zod-openapi';

/** docs/api/aptos.md#bad-requests: one sentence per broken rule, with the texts of class-validator. */
export interface BadRequestBody {
  readonly statusCode: '400';
  readonly message: string[];
  readonly error: 'Bad Request';
}

/** @param problems at least one */
export function badRequest(problems: readonly string[]): BadRequestBody {
  return { statusCode: '400', message: [...problems], error: 'Bad Request' };
}

export const badRequestSchema = z
  .object({
    statusCode: z.literal('400'),
    message: z.array(z.string()).openapi({ example: ['limit must not be greater than 100'] }),
    error: z.literal('Bad Request'),
  })
  .openapi('AptosBadRequest');
