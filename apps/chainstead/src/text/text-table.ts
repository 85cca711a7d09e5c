export function renderTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const texts = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)),
  );
  const widths = header.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => (row[column] ?? '').length)),
  );
  const isNumber = header.map(
    (_title, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${[line(header), ...texts.map(line)].join('\n')}\n`;
}
