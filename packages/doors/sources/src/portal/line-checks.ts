import { type BlockRange, isObject } from '@chainstead/core';
import { converting } from '../conversion/converting.ts';
import { integer, type Json } from '../conversion/forms.ts';
import type { BlockRows } from '../conversion/source-block.ts';
import type { CreateFault } from '../http-stream/http-stream.ts';

export interface CheckedLine extends Omit<BlockRows, 'bytes'> {
  readonly number: number;
  readonly hash: string;
}

/** Over all requests of a range. */
export interface LineChecks {
  /** First block that has not come yet. */
  readonly next: number;
  /** @throws SourceError */
  accept(json: unknown): CheckedLine;
}

const HASH = /^0x[0-9a-f]{64}$/;

/** @param isWhole each block has a line */
export function createLineChecks(range: BlockRange, isWhole: boolean, fault: CreateFault): LineChecks {
  let next = range.from;
  let previous: Pick<CheckedLine, 'number' | 'hash'> | null = null;

  function place(header: Json): Pick<CheckedLine, 'number' | 'hash'> {
    const number = converting(fault, () => integer(header.number, 'the number of a block'));
    const hash = typeof header.hash === 'string' ? header.hash.toLowerCase() : '';
    if (!HASH.test(hash)) throw fault('wrong', `block ${number} has no hash`);
    if (number < next || number > range.to)
      throw fault('wrong', `block ${number} came, but ${next} to ${range.to} were awaited`);
    if (isWhole && number !== next) throw fault('wrong', `block ${next} is missing before ${number}`);
    return { number, hash };
  }

  return {
    get next() {
      return next;
    },
    accept(json) {
      const { header, transactions, logs } = toRows(json, fault);
      const { number, hash } = place(header);
      const parent = typeof header.parentHash === 'string' ? header.parentHash.toLowerCase() : null;
      if (previous?.number === number - 1 && parent !== previous.hash)
        throw fault('wrong', `block ${number} names ${parent} as its parent, not ${previous.hash}`);
      previous = { number, hash };
      next = number + 1;
      return { number, hash, header, transactions, logs };
    },
  };
}

function toRows(json: unknown, fault: CreateFault): Omit<BlockRows, 'bytes'> {
  if (!isObject(json) || !isObject(json.header)) throw fault('wrong', 'a line is not a block');
  const list = (name: 'transactions' | 'logs'): readonly Json[] => {
    const rows = json[name] ?? [];
    if (!Array.isArray(rows) || !rows.every(isObject)) throw fault('wrong', `${name} is not a list of objects`);
    return rows;
  };
  return { header: json.header, transactions: list('transactions'), logs: list('logs') };
}
