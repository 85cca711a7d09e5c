import type { AbiSource } from '@chainstead/console';
import {
  type Address,
  type ChainId,
  defineError,
  errorText,
  JsonBoundsError,
  parseModestJson,
} from '@chainstead/core';
import { readAbi } from '@chainstead/events/decoding';
import { readFileOrUrl } from './read-file-or-url.ts';

export class AbiNotFoundError extends defineError(
  'ABI_NOT_FOUND',
  (host: string, address: string, problem: string) => ({
    message: `${host} returned no ABI of ${address}: ${problem}`,
    facts: { host, address },
    remedy:
      'Check the address and its chain. A proxy has the ABI of its implementation. Otherwise give the ABI as a file',
  }),
) {}

const PROBLEM_MAX = 300;
/** The console reads it in an API process. */
const RESPONSE_BYTES_MAX = 10 * 1024 * 1024;

/**
 * Requests an ABI from a server of verified contracts, such as Sourcify or an explorer with the API of Etherscan.
 * @param source ABI_SOURCE: a URL with `{address}`, and usually `{chain_id}`
 * @returns parsed JSON @throws AbiNotFoundError without the URL, which may contain a key
 */
export async function readSourceAbi(
  source: string,
  { address, chainId }: { readonly address: Address; readonly chainId: ChainId },
  signal: AbortSignal,
): Promise<unknown> {
  const url = source.replaceAll('{address}', address).replaceAll('{chain_id}', String(chainId));
  const { host } = new URL(url);
  const refuse = (problem: string): AbiNotFoundError =>
    new AbiNotFoundError(host, address, problem.slice(0, PROBLEM_MAX));
  const text = await readFileOrUrl(url, signal, RESPONSE_BYTES_MAX).catch((error: unknown) => {
    throw refuse(errorText(error).replaceAll(url, host));
  });
  const parsed = (json: string): unknown => parseJson(json, refuse);
  const document = parsed(text);
  const { result }: { result?: unknown } = Object(document);
  // Explorers return the JSON as a text, or with a reason.
  const abi = typeof result === 'string' ? parsed(result) : (result ?? document);
  if (abi === undefined) throw refuse(typeof result === 'string' ? result : 'the response is not JSON');
  if (readAbi(abi) === null) throw refuse('the response contains no ABI');
  return abi;
}

const FORM_MS = 15_000;

/** For forms of the console. */
export function createAbiSource(source: string): AbiSource {
  return {
    host: new URL(source).host,
    async read({ id }, address) {
      try {
        return { abi: await readSourceAbi(source, { address, chainId: id }, AbortSignal.timeout(FORM_MS)) };
      } catch (error) {
        if (!(error instanceof AbiNotFoundError)) throw error;
        return { problem: `${error.message}. ${error.remedy ?? ''}` };
      }
    },
  };
}

function parseJson(text: string, refuse: (problem: string) => AbiNotFoundError): unknown {
  try {
    // Invariant: HTTP-BODY-BOUNDED
    return parseModestJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof JsonBoundsError) throw refuse(error.message);
    return undefined;
  }
}
