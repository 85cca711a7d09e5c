import type { EventTable, ParameterColumn } from '@chainstead/contracts';
import { MAX_UINT256 } from '@chainstead/core';
import { html } from 'hono/html';
import { cut, type Html, NONE, opened, shown } from '../../layout/html.ts';
import {
  account,
  block,
  type Cell,
  type Column,
  type DataRow,
  hexText,
  short,
  text,
  time,
  transaction,
} from '../explorer/tables/cells.ts';

/** Columns of a table with rows of `GET /api/v2.2/contracts/{name}/{event}`. */
export function eventColumns({ parameters }: EventTable): readonly Column[] {
  return [
    ['Block', block(), 'number'],
    ['Log', text('log_index'), 'number'],
    ['Time', time()],
    ['Transaction', transaction()],
    ['Contract', account('contract_address')],
    ...parameters.map((column): Column => {
      const { name, type } = column;
      if (type === 'numeric') return [name, cellOf(column), 'number'];
      return type === 'text' || type === 'jsonb' ? [name, cellOf(column), 'text'] : [name, cellOf(column)];
    }),
  ];
}

/** Value of a parameter; null: none. */
export function parameterIn(row: DataRow, name: string): unknown {
  const values: Readonly<Record<string, unknown>> = Object(row.params);
  return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
}

function cellOf({ name, type, abiType, isHash }: ParameterColumn): Cell {
  if (type === 'bytea')
    return abiType.type === 'address' && !isHash ? account(`params.${name}`) : hexText(`params.${name}`);
  return (row) => {
    const value = parameterIn(row, name);
    if (value === null) return NONE;
    if (typeof value === 'object') return structureView(JSON.stringify(value));
    return type === 'numeric' ? integerView(String(value)) : textView(String(value));
  };
}

const DIGITS_SHOWN = 24;
const GROUPS = new Intl.NumberFormat('en-US');

/** Base units are read by their groups of digits; longer integers are seldom amounts. */
export function integerView(digits: string): Html {
  if (!/^-?\d{1,78}$/.test(digits)) return shown(digits);
  const value = BigInt(digits);
  if (digits.length <= DIGITS_SHOWN) return html`${GROUPS.format(value)}`;
  const brief = value === MAX_UINT256 ? '2^256 − 1' : short(digits);
  return opened(brief, digits);
}

const TEXT_SHOWN = 40;
const TEXT_MAX = 1_000;

function textView(value: string): Html {
  if (value.length <= TEXT_SHOWN) return shown(value);
  return opened(shown(value, TEXT_SHOWN), shown(value, TEXT_MAX));
}

const JSON_SHOWN = 30;
const JSON_MAX = 4_000;

function structureView(json: string): Html {
  if (json.length <= JSON_SHOWN) return html`<code>${cut(json)}</code>`;
  return opened(cut(json, JSON_SHOWN), cut(json, JSON_MAX));
}
