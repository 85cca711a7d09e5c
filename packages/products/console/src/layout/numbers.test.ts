import { expect, test } from 'vitest';
import { count, decimal, duration, moment, money, percent, rate } from './numbers.ts';

test('a percentage is 100 only when all is there, and 0 only when nothing is', () => {
  expect([1, 0.99999, 0.5, 0.00001, 0].map(percent)).toEqual(['100 %', '99.9 %', '50.0 %', '0.1 %', '0 %']);
});

test('durations are told in the unit that suits them', () => {
  expect([0, 119, 200, 7_300, 200_000].map(duration)).toEqual(['0 s', '119 s', '3 min', '2 h', '2 days']);
});

test('times are told in UTC, with what the script needs to tell them otherwise', () => {
  const at = new Date('2026-01-31T12:00:05.250Z');
  expect(String(moment(at))).toBe('<time datetime="2026-01-31T12:00:05.250Z">2026-01-31 12:00:05 UTC</time>');
});

test('numbers have separators, and what the script needs for others', () => {
  expect(String(count(1_234_567))).toBe('<data class="n" value="1234567">1,234,567</data>');
  expect([0.126, 12.34, 4_567.8].map(rate)).toEqual(['0.13', '12.3', '4,568']);
});

test.each([
  ['1000000.000000000000001246', '1,000,000'],
  ['9999.61976303001365587', '9,999.619763'],
  ['0.000000000000000421', '0.000000000000000421'],
  ['0.00002686500021492', '0.00002686'],
  ['-1234.5', '-1,234.5'],
  ['12', '12'],
])('%s is shortened to %s by cutting off digits, and opens if it has more', (exact, short) => {
  const view = `<data value="${exact}">${short}</data>`;
  const isWhole = short.replaceAll(',', '') === exact;
  expect(String(decimal(exact))).toBe(
    isWhole ? view : `<details class="value"><summary>${view}</summary>${exact}</details>`,
  );
});

test.each([
  ['27555662.379964', '27,555,662.37'],
  ['2646.984916', '2,646.98'],
  ['100', '100'],
  ['-531.2', '-531.20'],
  ['1.00031', '1.0003'],
  ['2.5', '2.50'],
])('dollars have cents, and more digits below 100: %s is %s', (exact, short) => {
  expect(String(money(exact))).toBe(`<data value="${exact}">${short}</data>`);
});

test('a text that is no number is shown as it is', () => {
  expect(String(decimal('1e9 <b>'))).toBe('<bdi>1e9 &lt;b&gt;</bdi>');
});
