/** Era files for this package's tests: of the shared data next to the repository, and changed copies of them. */
import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { recordedData } from '@chainstead/testkit';
import type { BlockSource, LogsPage, SourceBlock } from '../../block-source.ts';
import type { SourceFacts } from '../../source-error.ts';
import { SourceError } from '../../source-error.ts';

export const PROOFS = recordedData('data/proofs');
export const SEPOLIA_FILE = 'sepolia-00021-b8814b14.era1';
export const ERE_FILE = 'mainnet-02371-f8e2f40d.ere';
/** Epoch, offset, six proof nodes; then the entries. */
const SUMMARIES_START = 204;

const registry = createChainRegistry();
export const mainnet: Chain = registry.get('eth');
export const sepolia: Chain = registry.get('sepolia');

export async function emptyFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'era-'));
}

/** A folder with these files of the shared data. */
export async function folderOf(...names: readonly string[]): Promise<string> {
  const folder = await emptyFolder();
  for (const name of names) await copyFile(join(PROOFS.folder, 'files', name), join(folder, name));
  return folder;
}

/** A folder with one file whose bytes are changed. */
export async function folderWith(name: string, change: (bytes: Buffer) => Buffer, as = name): Promise<string> {
  const folder = await emptyFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, as), change(await readFile(join(PROOFS.folder, 'files', name))));
  return folder;
}

/** In the form of the option `summariesFile`. */
export async function summariesFile(): Promise<string> {
  const list = await readFile(join(PROOFS.folder, 'lists/historical-summaries-with-proof-epoch-364328.ssz'));
  const path = join(await emptyFolder(), 'summaries.ssz');
  await writeFile(path, list.subarray(SUMMARIES_START));
  return path;
}

export async function readAll(
  source: BlockSource,
  range: BlockRange,
  transactions = true,
): Promise<readonly SourceBlock[]> {
  return Array.fromAsync(source.readBlocks(range, { transactions }, new AbortController().signal));
}

export async function readPages(
  source: BlockSource,
  query: Parameters<BlockSource['readLogs']>[0],
): Promise<readonly LogsPage[]> {
  return Array.fromAsync(source.readLogs(query, new AbortController().signal));
}

/** Facts of the error of a source; anything else fails the test. */
export async function faultOf(read: Promise<unknown>): Promise<SourceFacts> {
  try {
    await read;
  } catch (error) {
    if (error instanceof SourceError) return error.facts as unknown as SourceFacts;
    throw error;
  }
  throw new RangeError('Nothing was thrown');
}
