import { readFile, stat } from 'node:fs/promises';
import { createChainRegistry } from '@chainstead/chains';
import { errorText, type Hash, JSON_DEPTH_MAX, parseBoundedJson, parseHash } from '@chainstead/core';
import { PriceUnprovenError, type VerifiedPrice, verifyPrice } from '@chainstead/prices';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation } from '../session/command-context.ts';

interface VerifyPriceOptions {
  readonly blockHash?: string;
  readonly trustedHashes?: string;
}

const BYTES_MAX = 128 * 1024 * 1024;
const VALUES_MAX = 2_000_000;

export async function showVerifiedPrice(
  { options, context }: Invocation<VerifyPriceOptions>,
  file: string,
): Promise<void> {
  const { blockHash, trustedHashes } = options;
  const trusted = blockHash === undefined ? null : readHash('--block-hash', blockHash);
  const lines = trustedHashes === undefined ? null : (await readText(trustedHashes)).split('\n');
  const listed = lines?.map((line) => line.trim()).filter((line) => line !== '');
  const hashes = listed === undefined ? null : new Set(listed.map((line) => readHash('--trusted-hashes', line)));
  const document = parseJson(file, await readText(file));
  const trust = { blockHash: trusted, blockHashes: hashes };
  const price = verifyPrice(document, createChainRegistry(), trust);
  context.stdout.write(render(price));
  const { unproven, blocksToCheck } = price;
  if (unproven.length + blocksToCheck.length > 0)
    throw new PriceUnprovenError(unproven.length, blocksToCheck.length);
}

async function readText(file: string): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > BYTES_MAX)
      throw new UsageError(`${file} has ${size} bytes`, `A price with its proof has at most ${BYTES_MAX}`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} can't be read: ${errorText(error)}`, 'Name an existing file');
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return parseBoundedJson(text, { depthMax: JSON_DEPTH_MAX, valuesMax: VALUES_MAX });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`${file} is not JSON`, 'Use the output of explain-price --proof, or of a price route');
  }
}

function readHash(option: string, text: string): Hash {
  if (/^0x[0-9a-f]{64}$/i.test(text)) return parseHash(text);
  throw new UsageError(`${option}: ${text} is not a block hash`, 'Use 0x and 64 hexadecimal digits');
}

function render({
  token,
  chainId,
  block,
  time,
  proven,
  unproven,
  blocksToCheck,
  ...price
}: VerifiedPrice): string {
  const at = `${new Date(time * 1_000).toISOString()}, hash ${block.hash}`;
  return [
    `${token} on chain ${chainId}: ${price.usd} US dollars at the end of block ${block.number} (${at})`,
    `Exactly ${price.numerator} / ${price.denominator}`,
    ...section('Proven', proven),
    ...section(
      'Not proven, taken from the file',
      unproven.map(({ fact, reason }) => `${fact} (${reason})`),
    ),
    ...section(
      'Compare these block hashes with a node',
      blocksToCheck.map(({ number, hash }) => `block ${number}: ${hash}`),
    ),
    '',
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}
