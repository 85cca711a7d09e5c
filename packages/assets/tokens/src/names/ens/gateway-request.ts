import type { Hex } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';

export interface GatewayQuery {
  readonly sender: string;
  readonly urls: readonly string[];
  readonly data: Hex;
}

/** @throws GatewayAnswerError */
export type AskGateway = (query: GatewayQuery) => Promise<Hex>;

/** Per question, including gateways that can't be queried. */
const REQUESTS_MAX = 8;
const URL_LENGTH_MAX = 16_384;
const TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 131_072;

/** Does not contain the URL: the text goes into a call. */
export class GatewayAnswerError extends Error {}

/** Contracts write the URLs (EIP-3668): only the guarded client requests them. */
export function createGatewayRequest(egress: Egress, signal: AbortSignal): AskGateway {
  let requests = 0;
  return async ({ data, sender, urls }) => {
    for (const template of urls) {
      requests += 1;
      if (requests > REQUESTS_MAX) break;
      const url = filledUrl(template, sender.toLowerCase(), data);
      if (url === null) continue;
      const answer = await requestGateway(
        egress,
        { url, data, sender, isGet: template.includes('{data}') },
        signal,
      );
      if (answer === 'refused') break;
      if (answer !== null) return answer;
    }
    throw new GatewayAnswerError('No gateway gave an answer');
  };
}

/** Null: too long. Measured first: a short URL may name long data many times. */
function filledUrl(template: string, sender: string, data: Hex): string | null {
  if (template.length > URL_LENGTH_MAX) return null;
  const grown = (name: string, value: string): number =>
    (template.split(name).length - 1) * (value.length - name.length);
  if (template.length + grown('{sender}', sender) + grown('{data}', data) > URL_LENGTH_MAX) return null;
  return template.replaceAll('{sender}', sender).replaceAll('{data}', data);
}

/** Null: the next one may answer. `refused`: EIP-3668 forbids to query another. */
async function requestGateway(
  egress: Egress,
  { url, data, sender, isGet }: { url: string; data: Hex; sender: string; isGet: boolean },
  signal: AbortSignal,
): Promise<Hex | 'refused' | null> {
  try {
    const { status, body } = await egress.request({
      url,
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
    // No answer, unless the question itself is over.
    signal.throwIfAborted();
    return null;
  }
}

function dataIn(text: string): Hex | null {
  let found: unknown = text.trim();
  try {
    found = Object(JSON.parse(text)).data;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return typeof found === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(found) ? (found as Hex) : null;
}
