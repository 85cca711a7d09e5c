/** What may hold a semicolon that ends no statement: comments, quoted names and texts, bodies between dollars. */
const PIECE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^;'"$/-]+|[\s\S]/g;

/** The statements of a migration, without comments, each on one line. Bodies between dollars stay as they are. */
export function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let open = '';
  const end = (): void => {
    if (open.trim() !== '') statements.push(open.trim());
    open = '';
  };
  for (const [piece, dollars] of text.matchAll(PIECE)) {
    if (piece === ';') end();
    else if (dollars !== undefined || /^['"]/.test(piece)) open += piece;
    else open += /^(?:--|\/\*)/.test(piece) ? '' : piece.replaceAll(/\s+/g, ' ');
  }
  end();
  return statements;
}
