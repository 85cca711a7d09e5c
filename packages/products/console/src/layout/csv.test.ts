import { expect, test } from 'vitest';
import { csvFile } from './csv.ts';

test('a CSV file quotes separators, and has no text that a spreadsheet runs as a formula', () => {
  const rows = [
    ['a,"b"', -5],
    ['=1+1', '-12.50'],
    ['@SUM(A1)', '+1'],
  ];
  const { content, saveAs } = csvFile('rows.csv', ['name', 'amount'], rows);
  expect(content).toBe(`name,amount\r\n"a,""b""",-5\r\n'=1+1,-12.50\r\n'@SUM(A1),'+1\r\n`);
  expect(saveAs).toBe('rows.csv');
});
