import { ChainsteadError, errorText, type Logger } from '@chainstead/core';
import { isNodeless, RequestAbortedError, RpcCallError } from '@chainstead/rpc';
import type { Outcome } from '../call.ts';
import { INTERNAL_ERROR, nodeless, TIMED_OUT, unavailable } from '../protocol/rpc-errors.ts';

/** Never reveals an upstream's address. */
export function failedOutcome(
  thrown: unknown,
  context: { readonly slug: string; readonly method: string; readonly logger: Logger },
): Outcome {
  if (thrown instanceof RpcCallError) {
    const { rpcCode: code, rpcMessage: message, rpcData: data } = thrown;
    return { ok: false, error: data === undefined ? { code, message } : { code, message, data } };
  }
  if (thrown instanceof RequestAbortedError) return { ok: false, error: TIMED_OUT };
  if (isNodeless(thrown)) return { ok: false, error: nodeless(context.slug) };
  if (thrown instanceof ChainsteadError && thrown.retryable)
    return { ok: false, error: unavailable(context.slug) };
  context.logger.error(
    { chain: context.slug, method: context.method, error: errorText(thrown) },
    'Call of the gateway failed',
  );
  return { ok: false, error: INTERNAL_ERROR };
}
