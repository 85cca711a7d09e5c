import type { Egress } from '@chainstead/egress';
import type { CcipRequestParameters, Hex } from 'viem';

/** Gateways that one question may ask. */
const REQUESTS_MAX = 8;
const TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 131_072;

/** A gateway gave nothing of use. Says nothing of where it is: the text goes into a call. */
class GatewayAnswerError extends Error {}

/**
 * Asks gateways of off-chain names (EIP-3668), whose URLs contracts write: through the guarded client alone. What they answer is judged by the
 * contract that named them.
 */
export function createGatewayRequest(
  egress: Egress,
  signal: AbortSignal,
): (lookup: CcipRequestParameters) => Promise<Hex> {
  let requests = 0;
  return async ({ data, sender, urls }) => {
    for (const url of urls) {
      requests += 1;
      if (requests > REQUESTS_MAX) break;
      const answer = await askGateway(egress, { url, data, sender }, signal);
      if (answer === 'refused') break;
      if (answer !== null) return answer;
    }
    throw new GatewayAnswerError('No gateway gave an answer');
  };
}

/** Null where the next one may know; `refused`: by EIP-3668 no other is to be asked. */
async function askGateway(
  egress: Egress,
  { url, data, sender }: { readonly url: string; readonly data: Hex; readonly sender: string },
  signal: AbortSignal,
): Promise<Hex | 'refused' | null> {
  const isGet = url.includes('{data}');
  try {
    const { status, body } = await egress.request({
      url: url.replaceAll('{sender}', sender.toLowerCase()).replaceAll('{data}', data),
      method: isGet ? 'GET' : 'POST',
      ...(!isGet && {
        body: JSON.stringify({ data, sender: sender.toLowerCase() }),
        headers: { 'content-type': 'application/json' },
      }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: RESPONSE_BYTES_MAX,
      signal,
    });
    if (status >= 400 && status < 500) return 'refused';
    return status === 200 ? dataIn(body.toString()) : null;
  } catch {
    // Away, forbidden or too long: as good as no answer, unless the question itself is over.
    signal.throwIfAborted();
    return null;
  }
}

/** JSON with `data`, or the bare text. */
function dataIn(text: string): Hex | null {
  let found: unknown = text.trim();
  try {
    found = Object(JSON.parse(text)).data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return typeof found === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(found) ? (found as Hex) : null;
}
