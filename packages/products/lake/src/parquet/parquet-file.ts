import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import * as zlib from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { ColumnKind, ExportColumn } from '../tables/export-table.ts';
import { type ColumnValues, createColumnValues } from './column-values.ts';

const ROWS_PER_GROUP = 20_000;

export interface ParquetFile {
  readonly values: readonly ColumnValues[];
  endRow(): void;
  finish(): FileFacts;
  abandon(): void;
}

export interface FileFacts {
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Replaces a file or link. @throws errors of the operating system, as all members do */
export function createParquetFile(path: string, columns: readonly ExportColumn[]): ParquetFile {
  rmSync(path, { force: true });
  const writer = new FileWriter(openSync(path, 'wx'));
  const parquet = new ParquetWriter({
    writer,
    schema: schemaOf(columns),
    ...COMPRESSION,
    createdBy: 'chainstead',
  });
  const values = columns.map(({ kind, isNullable }) => createColumnValues(kind, isNullable, ROWS_PER_GROUP));
  let rows = 0;
  let pending = 0;
  const writeGroup = (): void => {
    if (pending === 0) return;
    const columnData = columns.map(({ name, kind }, index) => ({
      name,
      data: values[index]?.take() ?? [],
      statistics: !WITHOUT_STATISTICS.has(kind),
    }));
    void parquet.write({ columnData, rowGroupSize: pending });
    pending = 0;
  };
  return {
    values,
    endRow() {
      rows += 1;
      pending += 1;
      if (pending === ROWS_PER_GROUP) writeGroup();
    },
    finish() {
      writeGroup();
      void parquet.finish();
      return { rows, ...writer.close() };
    },
    abandon: () => writer.abandon(),
  };
}

/** Smallest and largest bytes help no reader. */
const WITHOUT_STATISTICS: ReadonlySet<ColumnKind> = new Set(['bytes', 'text']);
const ZSTD = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

const COMPRESSION =
  'zstdCompressSync' in zlib
    ? ({
        codec: 'ZSTD',
        compressors: { ZSTD: (input: Uint8Array) => zlib.zstdCompressSync(input, ZSTD) },
      } as const)
    : ({ codec: 'SNAPPY' } as const);

function schemaOf(columns: readonly ExportColumn[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(
      ({ name, kind, isNullable }): SchemaElement => ({
        name,
        repetition_type: isNullable ? 'OPTIONAL' : 'REQUIRED',
        ...TYPES[kind],
      }),
    ),
  ];
}

const TYPES: Readonly<Record<ColumnKind, Omit<SchemaElement, 'name'>>> = {
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  bytes: { type: 'BYTE_ARRAY' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  timestamp: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } },
};

class FileWriter extends ByteWriter {
  readonly #file: number;
  readonly #hash = createHash('sha256');
  #isOpen = true;

  constructor(file: number) {
    super();
    this.#file = file;
  }

  flush(): void {
    const bytes = this.getBytes();
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    this.index = 0;
  }

  override finish(): void {
    this.flush();
    fsyncSync(this.#file);
  }

  close(): Pick<FileFacts, 'bytes' | 'sha256'> {
    this.abandon();
    return { bytes: this.offset, sha256: this.#hash.digest('hex') };
  }

  abandon(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}
