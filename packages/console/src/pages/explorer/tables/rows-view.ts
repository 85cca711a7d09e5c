import type { Html } from '../../../layout/html.ts';
import { number, table, wide } from '../../../layout/table.ts';
import type { CellPlace, Column, DataRow } from './cells.ts';

/** Returns rows under their columns, in a frame that scrolls sideways. */
export function rowsView(
  { title, columns }: { readonly title: string; readonly columns: readonly Column[] },
  rows: readonly DataRow[],
  place: CellPlace,
): Html {
  return table({
    label: `${title}, ${place.chain}`,
    className: 'rows',
    columns: columns.map((column) => {
      if (column.isNumber === true) return number(column.title);
      return column.isLong === true ? wide(column.title, 'text') : column.title;
    }),
    rows: rows.map((row) => columns.map((column) => column.cell(row, place))),
  });
}
