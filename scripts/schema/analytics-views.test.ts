import { address, int8Text, uint256 } from '@chainstead/db/column-types';
import { LOCAL, storageOf, storedTable } from '@chainstead/db/table-storage';
import { expect, test } from 'vitest';
import { withOtherColumns } from './analytics-views.ts';

const table = storedTable(
  'moves',
  {
    accountKey: int8Text('account_key'),
    account: address('account'),
    marker: address('marker'),
    amount: uint256('amount'),
  },
  { writes: 'append', placement: LOCAL, isPartitioned: true, key: ['accountKey'] },
);
const storage = storageOf(table) ?? { writes: 'append', placement: LOCAL };
const VIEW = `CREATE VIEW analytics.moves AS
SELECT
  moved.account_key,
  analytics.hex(moved.account) AS account,
  moved.account AS account_bytes
FROM public.moves AS moved;`;

test('columns that a view does not mention are added before the stored forms', () => {
  expect(withOtherColumns(VIEW, [{ name: 'moves', table, storage }])).toBe(
    VIEW.replace(
      '  moved.account AS',
      '  analytics.hex(moved.marker) AS marker,\n  moved.amount,\n  moved.account AS',
    ),
  );
});

test.each([
  ['columns that a comment leaves out', VIEW.replace('SELECT', '-- Without marker, amount.\nSELECT'), 'moves'],
  ['views over other tables', VIEW, 'others'],
])('%s stay as they are', (_, view, name) => {
  expect(withOtherColumns(view, [{ name, table, storage }])).toBe(view);
});
