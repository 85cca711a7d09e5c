import { InvalidParameterError } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { ValidationFailedError } from './validation-failed.ts';

const PAGE_LIMIT_MAX = 100;
const STREAM_ID = 'Invalid stream ID format';

/** A list's `limit`: required, 1 to 100 (docs/provider-contract.md#streams). */
export const limitParameter = z
  .string()
  .transform((text, ctx): number => {
    const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (limit >= 1 && limit <= PAGE_LIMIT_MAX) return limit;
    const message = Number.isNaN(limit) ? 'invalid integer number' : limit < 1 ? 'min 1' : `max ${PAGE_LIMIT_MAX}`;
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .openapi({ type: 'integer', minimum: 1, maximum: PAGE_LIMIT_MAX, example: 10 });

/** A UUID in lower case. */
export function idParameter() {
  return z
    .string()
    .regex(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i, { error: STREAM_ID })
    .toLowerCase()
    .openapi({ type: 'string', format: 'uuid' });
}

export const idParameters = z.object({ id: idParameter() });

/** What opens a page, with its refusals in the provider's form. @throws ValidationFailedError */
export function openPage<Page>(open: () => Page): Page {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    throw new ValidationFailedError([{ path: 'cursor', message: error.message }], 'parameters');
  }
}
