import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import {
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { systemClock } from '@chainstead/core';
import { rawSql, sql, statementOf } from '@chainstead/db';
import { scratchOfFile, stageOfTest } from '@chainstead/testkit/hooks';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { beforeEach, describe, expect, it } from 'vitest';
import { onFiles } from '../errors.ts';
import { findExportTable } from '../tables/export-table.ts';
import { cover, sampleExport, samples, seedSamples } from '../testing/sample-table.ts';
import { type ExportOptions, exportTable } from './export-table.ts';

const scratch = scratchOfFile();
const out = stageOfTest(async () => {
  const path = await mkdtemp(join(tmpdir(), 'chainstead-lake-'));
  return { path, close: () => rm(path, { recursive: true }) };
});
beforeEach(() => seedSamples(scratch.database));

const never = new AbortController().signal;
const folderOf = () => join(out.path, 'table=samples', 'chain=1');
const run = (changes: Partial<ExportOptions> = {}, signal = never) =>
  exportTable(sampleExport(scratch.database, out.path, changes), signal);
/** Folder of the manifest. */
const stateOf = () => join(out.path, '_export', 'table=samples', 'chain=1');
const readManifest = async () => JSON.parse(await readFile(join(stateOf(), 'manifest.json'), 'utf8'));
const filesOf = async () => (await readdir(folderOf())).toSorted();

/** Rows of all files. DuckDB reads them in export-table-duckdb.system.test.ts. */
async function inFiles(): Promise<readonly Record<string, unknown>[]> {
  const files = (await filesOf()).filter((name) => name.endsWith('.parquet'));
  const rows = files.map(async (name) =>
    parquetReadObjects({
      file: await asyncBufferFromFile(join(folderOf(), name)),
      compressors: { ZSTD: (input) => zstdDecompressSync(input) },
    }),
  );
  return (await Promise.all(rows)).flat();
}

async function snapshot(): Promise<unknown> {
  const names = await readdir(folderOf());
  return Promise.all(
    names.map(async (name) => [name, (await stat(join(folderOf(), name), { bigint: true })).mtimeNs]),
  );
}

describe('an export', () => {
  it('lists its files in a manifest', async () => {
    await run();
    const manifest = await readManifest();
    expect(manifest).toMatchObject({
      table: 'samples',
      dataset: 'samples',
      chain: 'eth',
      chain_id: 1,
      folder: 'table=samples/chain=1',
      blocks_per_file: 20,
      rows: 270,
      ranges: [{ from: 0, to: 89 }],
    });
    expect(manifest.files).toHaveLength(5);
    const [third, last] = [manifest.files[2], manifest.files[4]];
    expect(third).toMatchObject({
      from: 40,
      to: 59,
      rows: 60,
      path: '000000000040-000000000059.parquet',
      revision: '',
    });
    expect(last.proof).toEqual([{ from: 80, to: 89, level: 'none', reason: null }]);
    const hashes = await scratch.database.query<{ number: number; hash: string }>(
      sql`SELECT block_number AS number, '0x' || encode(block_hash, 'hex') AS hash FROM blocks WHERE block_number IN (40, 59) ORDER BY 1`,
    );
    expect([third.first_block, third.last_block]).toEqual(hashes);
    const { createHash } = await import('node:crypto');
    const bytes = await readFile(join(folderOf(), third.path));
    expect([third.bytes, third.sha256]).toEqual([bytes.length, createHash('sha256').update(bytes).digest('hex')]);
  });

  it('changes nothing when it runs twice', async () => {
    await run();
    const before = await snapshot();
    expect(await run()).toMatchObject({ written: 0, rewritten: 0, rows: 0, blocks: 90 });
    expect(await snapshot()).toEqual(before);
  });

  it('has no file for blocks without rows', async () => {
    await scratch.database.query(sql`DELETE FROM samples WHERE block_number BETWEEN 20 AND 39`);
    expect(await run()).toMatchObject({ written: 4, isFinished: true });
    expect((await readManifest()).files[1]).toMatchObject({
      from: 20,
      to: 39,
      rows: 0,
      path: null,
      sha256: null,
    });
    expect(await filesOf()).toHaveLength(4);
    expect(await run()).toMatchObject({ written: 0 });
  });

  it('has each ERC-20 transfer once', () => {
    const { table: sample } = samples;
    const types = new Map([
      ...sample.types,
      ['direction', { type: 'smallint', isRequired: true, hasDefault: false }],
    ] as const);
    const columns = ['account_key', 'chain_id', 'block_number', 'direction', 'account'];
    const table = {
      ...sample,
      name: 'erc20_transfer_sides',
      columns,
      types,
      key: ['account_key', 'chain_id', 'block_number', 'direction'],
    };
    const found = findExportTable([{ ...samples, table }], 'erc20_transfers');
    expect(statementOf(found.source).text).toBe('FROM "erc20_transfer_sides" WHERE direction <> 1');
    expect(found.columns.map(({ name }) => name)).toEqual([
      'chain_id',
      'block_number',
      'from_address',
      'block_time',
    ]);
  });
});

describe('an export that was interrupted', () => {
  // Invariant: LAKE-WHOLE-FILES
  it('continues after its last file, without files that were not finished', async () => {
    const stop = new AbortController();
    const onProgress = ({ done }: { done: number }) => void (done >= 40 && stop.abort(new Error('stopped')));
    await expect(run({ onProgress }, stop.signal)).rejects.toThrow('stopped');
    expect((await readManifest()).ranges).toEqual([{ from: 0, to: 39 }]);
    const [first = ''] = await filesOf();
    const kept = (await stat(join(folderOf(), first), { bigint: true })).mtimeNs;
    // As a killed process leaves them: half of a file, and a complete one that is not in the manifest.
    await writeFile(join(stateOf(), '000000000040-000000000059.parquet.part'), 'PAR1');
    await writeFile(join(folderOf(), '000000000060-000000000089.parquet'), 'PAR1');
    expect(await run()).toMatchObject({ written: 3, rows: 150, blocks: 90 });
    expect((await stat(join(folderOf(), first), { bigint: true })).mtimeNs).toBe(kept);
    expect(await filesOf()).toHaveLength(5);
    expect(await readdir(stateOf())).toEqual(['manifest.json']);
    expect(await inFiles()).toHaveLength(270);
  });

  it('reports a full disk, and continues once there is room', async () => {
    // The program doesn't follow a link to the full device, so the order of the steps is tested with a folder at the place of a file.
    await expect(onFiles('/dev/full', () => writeFile('/dev/full', 'PAR1'))).rejects.toMatchObject({
      code: 'EXPORT_FOLDER_FAILED',
      message:
        "Can't write /dev/full: ENOSPC: no space left on device, write. Free disk space, then run the same command again: it continues",
    });
    const full = join(folderOf(), '000000000020-000000000039.parquet');
    const onProgress = () => void (existsSync(full) || mkdirSync(full));
    await expect(run({ onProgress })).rejects.toMatchObject({ code: 'EXPORT_FOLDER_FAILED' });
    await rm(full, { recursive: true });
    expect(await filesOf()).toEqual(['000000000000-000000000019.parquet']);
    expect((await readManifest()).ranges).toEqual([{ from: 0, to: 19 }]);
    expect(await run()).toMatchObject({ written: 4, blocks: 90 });
  });
});

describe('links in the folder of an export', () => {
  it('are replaced and not followed', async () => {
    await run();
    const [victim, twin] = [join(out.path, 'victim'), join(out.path, 'twin')];
    const file = join(folderOf(), '000000000020-000000000039.parquet');
    await rename(file, victim);
    await symlink(victim, file);
    await writeFile(twin, 'whole');
    // A hard link would be emptied by opening it.
    await link(twin, join(stateOf(), 'manifest.json.part'));
    const bytes = await readFile(victim);
    expect(await run()).toMatchObject({ written: 1 });
    expect((await lstat(file)).isFile()).toBe(true);
    expect([await readFile(twin, 'utf8'), (await readFile(victim)).equals(bytes)]).toEqual(['whole', true]);
  });

  it('leaves files of others', async () => {
    await run();
    await writeFile(join(folderOf(), 'notes.part'), 'notes');
    await run();
    expect(await filesOf()).toContain('notes.part');
  });
});

describe('exported blocks that change', () => {
  const rewritten: unknown[] = [];
  const again = (changes: Partial<ExportOptions> = {}) => {
    rewritten.length = 0;
    return run({ onRewrite: (range, reason) => void rewritten.push([range.from, range.to, reason]), ...changes });
  };

  it('are written again after a reorg below finality', async () => {
    await run();
    await scratch.database.query(sql`UPDATE blocks SET block_hash = sha256('other') WHERE block_number = 79`);
    await scratch.database.query(sql`UPDATE samples SET label = 'other' WHERE block_number = 79`);
    expect(await again()).toMatchObject({ written: 1, rewritten: 1, rows: 60 });
    expect(rewritten).toEqual([[60, 79, 'reorg']]);
    expect((await inFiles()).filter(({ label }) => label === 'other')).toHaveLength(3);
    expect(await again()).toMatchObject({ written: 0 });
  });

  it('are written again after a reindex that changed rows', async () => {
    await run();
    const record =
      "INSERT INTO rewritten_ranges (chain_id, dataset, first_block, last_block) VALUES (1, 'samples', 15, 45)";
    await scratch.database.query(rawSql(record));
    await scratch.database.query(sql`UPDATE samples SET label = 'other' WHERE block_number = 20`);
    expect(await again()).toMatchObject({ written: 1, rewritten: 1 });
    expect(rewritten).toEqual([[20, 39, 'reindex']]);
    const before = await snapshot();
    expect(await again()).toMatchObject({ written: 0 });
    expect(await snapshot()).toEqual(before);
  });

  it('are written again if their file is gone', async () => {
    await run();
    await rm(join(folderOf(), '000000000020-000000000039.parquet'));
    expect(await again()).toMatchObject({ written: 1 });
    expect(rewritten).toEqual([[20, 39, 'missing file']]);
  });

  it('stay if their rows were dropped since', async () => {
    await run();
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 30 WHERE first_block = 0`);
    await scratch.database.query(sql`DELETE FROM samples WHERE block_number < 30`);
    expect(await again()).toMatchObject({ written: 0, blocks: 90 });
    expect(await inFiles()).toHaveLength(270);
  });

  it('get their new proof level without a new file', async () => {
    await run();
    const before = (await readManifest()).files[4].sha256;
    await scratch.database.query(sql`UPDATE sync_ranges SET proof = 'receipts'`);
    expect(await run()).toMatchObject({ written: 0 });
    expect((await readManifest()).files[4]).toMatchObject({
      sha256: before,
      proof: [{ from: 80, to: 89, level: 'receipts', reason: null }],
    });
  });
});

describe('an export that follows', () => {
  /** A clock that changes the database at each sleep. */
  const clockOf = (...steps: (() => Promise<unknown>)[]) => ({
    ...systemClock,
    sleep: async () => {
      const step = steps.shift();
      if (step === undefined) throw new Error('It waits for more');
      await step();
    },
  });
  const checkpoint = (number: number) => () =>
    scratch.database.query(sql`UPDATE sync_chains SET checkpoint = ${number}`);

  it('waits for blocks to be final and covered, and joins the files of a range', async () => {
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 70 WHERE first_block = 60`);
    await checkpoint(75)();
    const seen: string[][] = [];
    const look = async () => seen.push((await filesOf()).map((name) => name.replaceAll(/0{8}|\.parquet/g, '')));
    const clock = clockOf(
      async () => {
        await look();
        await cover(scratch.database, 60, 69, 'cross');
      },
      async () => {
        await look();
        await checkpoint(88)();
      },
      async () => {
        await look();
        await checkpoint(99)();
      },
    );
    expect(await run({ follow: true, clock })).toMatchObject({ blocks: 90, to: 89, isFinished: true });
    expect(seen).toEqual([
      ['0000-0019', '0020-0039', '0040-0059'],
      ['0000-0019', '0020-0039', '0040-0059', '0060-0065'],
      ['0000-0019', '0020-0039', '0040-0059', '0060-0065', '0066-0078'],
    ]);
    expect(await filesOf()).toEqual(
      [0, 20, 40, 60, 80].map(
        (from) =>
          `${String(from).padStart(12, '0')}-${String(Math.min(from + 19, 89)).padStart(12, '0')}.parquet`,
      ),
    );
    expect(await inFiles()).toHaveLength(270);
  });

  it('ends without an error when it is stopped', async () => {
    const stop = new AbortController();
    const clock = clockOf(async () => stop.abort());
    expect(await run({ follow: true, to: null, clock }, stop.signal)).toMatchObject({
      ...{ blocks: 90, to: 89, isFinished: false },
    });
  });

  it('names the block where its files end when it is stopped, not the newest final one', async () => {
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 70 WHERE first_block = 60`);
    const stop = new AbortController();
    const clock = clockOf(async () => stop.abort());
    expect(await run({ follow: true, to: null, clock }, stop.signal)).toMatchObject({
      to: 59,
      isFinished: false,
    });
    expect((await readManifest()).ranges[0]).toEqual({ from: 0, to: 59 });
    const none = { ...systemClock, sleep: async () => undefined };
    expect(await run({ follow: true, from: 65, to: null, clock: none }, AbortSignal.abort())).toMatchObject({
      to: null,
    });
  });

  // Invariant: LAKE-WHOLE-FILES
  it('has only data files in its folder at each moment', async () => {
    const seen = new Set<string>();
    await run({ onProgress: () => readdirSync(folderOf()).forEach((name) => void seen.add(name)) });
    expect([...seen].toSorted()).toEqual(await filesOf());
    expect(seen.size).toBe(5);
  });
});

describe('an export that is refused', () => {
  it('names the gap', async () => {
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 70 WHERE first_block = 60`);
    await expect(run()).rejects.toThrow(
      'samples of eth lacks blocks 60-69. Run "chainstead backfill --chain eth --from 60 --to 69", change the range, or use --follow to wait',
    );
    expect(await filesOf()).toEqual([]);
  });

  it('names the newest final block', async () => {
    await expect(run({ to: 90 })).rejects.toThrow(
      'Block 90 of eth is not final here. The newest final block is 89. Use --to 89, or --follow to wait for later blocks',
    );
  });

  it('has no indexed chain', async () => {
    await scratch.database.query(sql`DELETE FROM sync_chains`);
    await expect(run({ to: null })).rejects.toThrow(
      'eth has no indexed blocks yet. Run "chainstead start" first',
    );
  });

  it('lists the tables', () => {
    expect(() => findExportTable([samples], 'sample')).toThrow(
      'There is no table sample to export. Use one of samples',
    );
  });

  it('has a folder that is a file', async () => {
    await writeFile(join(out.path, 'file'), '');
    await expect(run({ out: join(out.path, 'file') })).rejects.toMatchObject({ code: 'EXPORT_FOLDER_FAILED' });
  });

  it('has the manifest of another export', async () => {
    await run();
    const path = join(stateOf(), 'manifest.json');
    await expect(run({ blocksPerFile: 10 })).rejects.toThrow(
      `${path} has 20 blocks per file, and not 10. Use another folder for --out`,
    );
    await writeFile(path, (await readFile(path, 'utf8')).replace('"samples"', '"others"'));
    await expect(run()).rejects.toThrow(`${path} is of table others of chain 1`);
    await writeFile(path, '{"format":');
    await expect(run()).rejects.toThrow(`${path} is no manifest of this version`);
  });

  it.each(['../../../victim', '000000000000-000000000019.parquet'])(
    'has a manifest that lists %s',
    async (name) => {
      await run();
      const victim = join(out.path, 'victim');
      await writeFile(victim, 'whole');
      const path = join(stateOf(), 'manifest.json');
      await writeFile(path, (await readFile(path, 'utf8')).replace('000000000080-000000000089.parquet', name));
      await scratch.database.query(sql`UPDATE blocks SET block_hash = sha256('other') WHERE block_number = 89`);
      await expect(run()).rejects.toThrow(`${path} is no manifest of this version`);
      expect([await readFile(victim, 'utf8'), (await filesOf()).length]).toEqual(['whole', 5]);
    },
  );

  it.each(['table=samples', '_export', '_export/table=samples'])('has a link in place of %s', async (folder) => {
    const elsewhere = join(out.path, 'elsewhere');
    await mkdir(elsewhere);
    await mkdir(dirname(join(out.path, folder)), { recursive: true });
    await symlink(elsewhere, join(out.path, folder));
    await expect(run()).rejects.toMatchObject({ code: 'EXPORT_FOLDER_IS_LINK' });
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('has a link in place of the manifest', async () => {
    await run();
    const path = join(stateOf(), 'manifest.json');
    await rename(path, join(out.path, 'manifest.json'));
    await symlink(join(out.path, 'manifest.json'), path);
    await expect(run()).rejects.toThrow('It is a link, which is not followed');
  });

  it('runs already', async () => {
    const stopped = new AbortController();
    const written = Promise.withResolvers<void>();
    const onProgress: ExportOptions['onProgress'] = ({ done, total }) => {
      if (done === total) written.resolve();
    };
    const following = run({ follow: true, to: null, onProgress }, stopped.signal);
    try {
      await Promise.race([written.promise, following]);
      const clock = { ...systemClock, sleep: async () => undefined };
      await expect(run({ clock })).rejects.toThrow(`Another process exports to ${folderOf()}. Wait`);
      const other = join(out.path, 'other');
      await symlink(out.path, other);
      await expect(run({ clock, out: other })).rejects.toThrow(`Another process exports to ${folderOf()}. Wait`);
    } finally {
      stopped.abort();
    }
    await following;
  });
});
