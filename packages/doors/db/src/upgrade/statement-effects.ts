export type EffectKind =
  | 'create-table'
  | 'build-index'
  | 'scan'
  | 'rewrite'
  | 'change-rows'
  | 'drop-table'
  | 'drop-view'
  | 'drop-index'
  | 'rename'
  | 'add-column'
  | 'catalog'
  | 'unknown';

export type EffectLock = 'none' | 'writes' | 'all';

export interface StatementEffect {
  readonly kind: EffectKind;
  /** Without schema; for `drop-index` the index, for `drop-view` the view as written. */
  readonly object: string | null;
  readonly lock: EffectLock;
  readonly index?: { readonly name: string; readonly method: string };
  readonly renamedTo?: string;
  /** Fails if the table has rows. */
  readonly needsEmpty?: boolean;
  readonly isConditional?: boolean;
  readonly onlyBelow?: { readonly table: string; readonly bytes: number };
}

export function effectsOf(text: string): StatementEffect[] {
  return splitStatements(text).flatMap(effectsOfStatement);
}

const NAME = String.raw`(?:"?\w+"?\.)?"?(\w+)"?`;
const rule = (source: string): RegExp =>
  new RegExp(source.replaceAll('<name>', NAME).replaceAll(' ', String.raw`\s+`), 'is');

const CREATE_TABLE = rule('^CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?<name>');
const CREATE_INDEX = rule(
  '^CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?"?(\\w+)"? ON (?:ONLY )?<name>(?: USING (\\w+))?',
);
const DROP = rule('^DROP (TABLE|VIEW|INDEX) (?:IF EXISTS )?((?:"?\\w+"?\\.)?"?\\w+"?)');
const ALTER_TABLE = rule('^ALTER TABLE (?:ONLY )?(?:IF EXISTS )?<name> (.*)$');
const CHANGE = rule('^(?:UPDATE|DELETE FROM|INSERT INTO) <name>');
const BLOCK = /^DO\s+(\$\w*\$)([\s\S]*)\1/i;
/** Blocks no readers or writers. */
const CATALOG = rule(
  '^(?:CREATE (?:OR REPLACE )?(?:VIEW|FUNCTION|SCHEMA|EXTENSION|ROLE|TYPE|SEQUENCE)|ALTER (?:INDEX|ROLE|DEFAULT PRIVILEGES|VIEW|FUNCTION)|GRANT|REVOKE|COMMENT ON|SELECT|SET|DROP FUNCTION)\\b',
);
const TRIVIAL_CHANGE = /^INSERT\b.*\bVALUES\b/is;

function effectsOfStatement(statement: string): StatementEffect[] {
  const created = CREATE_TABLE.exec(statement);
  if (created !== null) return [{ kind: 'create-table', object: created[1] ?? '', lock: 'none' }];
  const indexed = CREATE_INDEX.exec(statement);
  if (indexed !== null) {
    const index = { name: indexed[1] ?? '', method: (indexed[3] ?? 'btree').toLowerCase() };
    return [{ kind: 'build-index', object: indexed[2] ?? '', lock: 'writes', index }];
  }
  const dropped = DROP.exec(statement);
  if (dropped !== null) {
    const kind = `drop-${(dropped[1] ?? '').toLowerCase()}` as 'drop-table' | 'drop-view' | 'drop-index';
    return [{ kind, object: (dropped[2] ?? '').replaceAll('"', ''), lock: 'all' }];
  }
  const altered = ALTER_TABLE.exec(statement);
  if (altered !== null)
    return splitActions(altered[2] ?? '').map((action) => effectOfAction(altered[1] ?? '', action));
  const changed = CHANGE.exec(statement);
  const changing = TRIVIAL_CHANGE.test(statement) ? 'catalog' : 'change-rows';
  if (changed !== null) return [{ kind: changing, object: changed[1] ?? '', lock: 'none' }];
  const block = BLOCK.exec(statement);
  if (block !== null) return effectsOfBlock(block[2] ?? '');
  return [{ kind: CATALOG.test(statement) ? 'catalog' : 'unknown', object: null, lock: 'none' }];
}

function splitActions(actions: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let open = '';
  for (const [piece] of actions.matchAll(/'(?:[^']|'')*'|[(),]|[^'(),]+/g)) {
    if (piece === '(') depth += 1;
    if (piece === ')') depth -= 1;
    if (piece === ',' && depth === 0) {
      parts.push(open.trim());
      open = '';
    } else open += piece;
  }
  return [...parts, open.trim()];
}

const RENAME = rule('^RENAME TO "?(\\w+)"?');
const ADD_COLUMN = rule('^ADD (?:COLUMN )?(?:IF NOT EXISTS )?(?!CONSTRAINT\\b)"?\\w+"? ');
const VOLATILE_DEFAULT =
  /\bDEFAULT\s+(?:gen_random_uuid|random|clock_timestamp|nextval|uuidv7)\s*\(|\bGENERATED\b.*\b(?:STORED|IDENTITY)\b|\b(?:big)?serial\b/i;
const ADD_INDEXED_CONSTRAINT =
  /^ADD\s+(?:CONSTRAINT\s+"?\w+"?\s+)?(EXCLUDE|UNIQUE|PRIMARY KEY)\b(?:\s+USING\s+(\w+))?/i;
const ADD_CHECKED_CONSTRAINT = /^ADD\s+(?:CONSTRAINT\s+"?\w+"?\s+)?(?:CHECK|FOREIGN KEY)\b/i;
const CONSTRAINT_NAME = /^ADD\s+CONSTRAINT\s+"?(\w+)"?/i;
const CHANGE_TYPE = /^ALTER\s+(?:COLUMN\s+)?"?\w+"?\s+(?:SET DATA\s+)?TYPE\b/i;
const SET_NOT_NULL = /^ALTER\s+(?:COLUMN\s+)?"?\w+"?\s+SET\s+NOT\s+NULL\b/i;
/** Readers and writers continue. */
const SETTINGS =
  /^(?:SET\s*\(|RESET\s*\(|ALTER\s+(?:COLUMN\s+)?\S+\s+SET\s+STATISTICS|ALTER\s+COLUMN\s+"?\w+"?\s+SET\s+STATISTICS)/i;

function effectOfAction(table: string, action: string): StatementEffect {
  const renamed = RENAME.exec(action);
  if (renamed !== null) return { kind: 'rename', object: table, lock: 'all', renamedTo: renamed[1] ?? '' };
  const constraint = ADD_INDEXED_CONSTRAINT.exec(action);
  if (constraint !== null) {
    const index = {
      name: CONSTRAINT_NAME.exec(action)?.[1] ?? '',
      method: (constraint[2] ?? 'btree').toLowerCase(),
    };
    return { kind: 'build-index', object: table, lock: 'all', index };
  }
  if (ADD_CHECKED_CONSTRAINT.test(action))
    return { kind: /\bNOT VALID\b/i.test(action) ? 'catalog' : 'scan', object: table, lock: 'all' };
  if (ADD_COLUMN.test(action)) {
    if (VOLATILE_DEFAULT.test(action)) return { kind: 'rewrite', object: table, lock: 'all' };
    const needsEmpty = /\bNOT NULL\b/i.test(action) && !/\bDEFAULT\b/i.test(action);
    return { kind: 'add-column', object: table, lock: 'all', ...(needsEmpty && { needsEmpty }) };
  }
  if (CHANGE_TYPE.test(action)) return { kind: 'rewrite', object: table, lock: 'all' };
  if (SET_NOT_NULL.test(action)) return { kind: 'scan', object: table, lock: 'all' };
  return { kind: 'catalog', object: table, lock: SETTINGS.test(action) ? 'none' : 'all' };
}

const IN_BLOCK =
  /\b(?:CREATE\s+(?:UNIQUE\s+)?INDEX|CREATE\s+TABLE|DROP\s+(?:TABLE|INDEX|VIEW)|ALTER\s+TABLE\s+"?\w|UPDATE\s+"?\w|DELETE\s+FROM|INSERT\s+INTO)[^;]*/gi;
/** `'nft_transfers'::regclass) < 1073741824`, the limit for building an index. */
const SIZE_BOUND = /'(\w+)'::regclass\s*\)\s*<\s*(\d+)/;

/** Statements built as text are not recognized. */
function effectsOfBlock(body: string): StatementEffect[] {
  const [, table, bytes] = SIZE_BOUND.exec(body) ?? [];
  const onlyBelow = table === undefined ? undefined : { table, bytes: Number(bytes) };
  const statements = body
    .replaceAll(/'(?:[^']|'')*'/g, (literal) => (/^'\w*'$/.test(literal) ? literal : "''"))
    .matchAll(IN_BLOCK);
  const effects = [...statements].flatMap(([statement]) => effectsOfStatement(statement.replaceAll(/\s+/g, ' ')));
  if (effects.length === 0) return [{ kind: 'catalog', object: null, lock: 'none' }];
  return effects.map((effect) => ({ ...effect, isConditional: true, ...(onlyBelow && { onlyBelow }) }));
}

/** May contain a semicolon: comments, quoted names, texts, bodies. */
const PIECE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|;|[^;'"$/-]+|[\s\S]/g;

/** Each on one line, without comments. Dollar-quoted bodies are unchanged. */
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
