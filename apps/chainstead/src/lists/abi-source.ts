import { opendir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainRegistry } from '@chainstead/chains';
import type { AbiSource } from '@chainstead/console';
import {
  type Address,
  type ChainId,
  defineError,
  errorText,
  isAddress,
  JsonBoundsError,
  parseAddress,
  parseModestJson,
} from '@chainstead/core';
import { createEgress } from '@chainstead/egress';
import { readAbi } from '@chainstead/events/decoding';

class AbiNotFoundError extends defineError('ABI_NOT_FOUND', (host: string, address: string, problem: string) => ({
  message: `${host} returned no ABI of ${address}: ${problem}`,
  facts: { host, address },
  remedy:
    'Check the address and its chain. A proxy has the ABI of its implementation. Otherwise give the ABI as a file',
})) {}

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

interface NamedContract {
  readonly address: Address;
  readonly chainId: ChainId;
}

export interface ContractNaming {
  readonly chains: Pick<ChainRegistry, 'find'>;
  readonly chainId?: ChainId | undefined;
  readonly address?: Address | undefined;
}

/** A text is the reason for none. @param document parsed JSON, untrusted */
export function contractsOf(
  path: string,
  document: unknown,
  naming: ContractNaming,
): readonly NamedContract[] | string {
  const { address, networks }: { address?: unknown; networks?: unknown } = Object(document);
  if (naming.address !== undefined) return onChain(naming.address, undefined, naming);
  if (isAddress(address)) return onChain(parseAddress(address), undefined, naming);
  const deployed = Object.entries(Object(networks)).flatMap(([id, network]) => {
    const { address: place }: { address?: unknown } = Object(network);
    return isAddress(place) ? onKnownChain(parseAddress(place), id, naming) : [];
  });
  if (deployed.length > 0) return deployed;
  return inPath(path, naming);
}

const ADDRESS_IN_NAME = /(?:^|[^0-9a-z])(0x[0-9a-f]{40})(?![0-9a-f])/i;

function inPath(path: string, naming: ContractNaming): readonly NamedContract[] | string {
  const names = path.split(/[\\/]/);
  const place = names.findLastIndex((name) => ADDRESS_IN_NAME.test(name));
  const [, found] = ADDRESS_IN_NAME.exec(names[place] ?? '') ?? [];
  if (found === undefined) return 'a file without a contract address';
  return onChain(parseAddress(found), names[place - 1], naming);
}

function onChain(
  address: Address,
  folder: string | undefined,
  naming: ContractNaming,
): readonly NamedContract[] | string {
  if (folder !== undefined && /^[1-9]\d*$/.test(folder)) {
    const known = onKnownChain(address, folder, naming);
    return known.length > 0 ? known : `chain ${folder.slice(0, 40)} is unknown here`;
  }
  return naming.chainId === undefined ? 'a file without a chain' : [{ address, chainId: naming.chainId }];
}

function onKnownChain(address: Address, id: string, { chains }: ContractNaming): NamedContract[] {
  const chain = chains.find(id);
  return chain === null ? [] : [{ address, chainId: chain.id }];
}

const URL_START = /^https?:\/\//i;
const BYTES_MAX = 64 * 1_024 * 1_024;
/** Each takes about 60 bytes of memory. */
const VALUES_MAX = 5_000_000;
const DEPTH_MAX = 64;
const TIMEOUT_MS = 60_000;
const REDIRECTS_MAX = 5;

export class UnreadablePlaceError extends defineError(
  'PLACE_UNREADABLE',
  (place: string, problem: string, cause?: unknown) => ({
    message: `${place} can't be read: ${problem}`,
    facts: { place },
    retryable: true,
    cause,
  }),
) {}

export function isUrl(place: string): boolean {
  return URL_START.test(place);
}

/** @param bytesMax of a response. @throws UnreadablePlaceError */
export async function readFileOrUrl(place: string, signal: AbortSignal, bytesMax = BYTES_MAX): Promise<string> {
  try {
    return isUrl(place) ? await readUrl(place, signal, bytesMax) : await readFile(place, 'utf8');
  } catch (error) {
    throw error instanceof UnreadablePlaceError
      ? error
      : new UnreadablePlaceError(place, errorText(error), error);
  }
}

async function readUrl(url: string, signal: AbortSignal, bytesMax: number): Promise<string> {
  const egress = createEgress({
    allowPrivate: false,
    // A local user reaches its networks anyway; the server of the URL does not.
    privateOrigin: URL.parse(url)?.origin ?? '',
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: bytesMax,
  });
  try {
    const answer = await egress.request({ url, redirects: REDIRECTS_MAX, signal });
    if (answer.status !== 200) throw new UnreadablePlaceError(url, `it answered ${answer.status}`);
    const problem = problemOf(answer.body);
    if (problem !== null) throw new UnreadablePlaceError(url, problem);
    return answer.body.toString('utf8');
  } finally {
    await egress.close();
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

function problemOf(body: Buffer): string | null {
  if (!/^\uFEFF?\s*[[{]/.test(body.toString('utf8', 0, 64))) return null;
  let [values, depth, isText] = [0, 0, false];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += byte === BACKSLASH ? 1 : 0;
    else if (OPENING.has(byte)) {
      values += 1;
      depth += 1;
      if (depth > DEPTH_MAX) return `it is nested more than ${DEPTH_MAX} levels deep`;
    } else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (values > VALUES_MAX) return `it has more than ${VALUES_MAX} values`;
  }
  return null;
}

export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
}

/** A file, or all below a folder, by name. Follows no links. @throws UnreadablePlaceError */
export async function* listFiles(place: string): AsyncGenerator<ListedFile> {
  try {
    const found = await stat(place);
    if (found.isDirectory()) yield* filesBelow(place);
    else yield { path: place, bytes: found.size };
  } catch (error) {
    throw error instanceof UnreadablePlaceError
      ? error
      : new UnreadablePlaceError(place, errorText(error), error);
  }
}

async function* filesBelow(folder: string): AsyncGenerator<ListedFile> {
  const names: { readonly name: string; readonly isFolder: boolean }[] = [];
  for await (const entry of await opendir(folder))
    if (entry.isFile() || entry.isDirectory()) names.push({ name: entry.name, isFolder: entry.isDirectory() });
  for (const { name, isFolder } of names.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, name);
    if (isFolder) yield* filesBelow(path);
    else yield { path, bytes: (await stat(path)).size };
  }
}
