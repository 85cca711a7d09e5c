/** Reads from the sources which rows the calls of the database declare, by the compiler's own types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallExpression, Node, SourceFile } from 'typescript/unstable/ast';
import {
  isAwaitExpression,
  isCallExpression,
  isExpressionStatement,
  isIdentifier,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast/is';
import { API, type Checker, type Project, type Type } from 'typescript/unstable/sync';
import { columnsOfType, type DeclaredColumn } from './declared-columns.ts';

/** A call that reads rows. */
export interface DeclaredRows {
  /** Position of the called name: `packages/engine/sync/src/checkpoint.ts:27:30`. */
  readonly place: string;
  /** Position of the `await` before the call. */
  readonly awaitPlace: string | null;
  /** The row's type as the compiler prints it. */
  readonly type: string;
  /** Empty if the call asserts nothing of its rows. */
  readonly columns: readonly DeclaredColumn[];
}

/** A generic function whose type argument at this index is the row. */
interface RowReader {
  readonly name: string;
  readonly index: number;
  /** Null: any function of this name. */
  readonly declaration: Node | null;
}

/** What reads rows in the database package and in `pg`. Functions that pass their own type argument on to one of these are found. */
const READERS: readonly RowReader[] = ['query', 'select', 'selectLasting', 'queryPrepared', 'queryRows'].map(
  (name) => ({
    name,
    index: 0,
    declaration: null,
  }),
);

/**
 * Every call that reads rows.
 * @param root folder of the `tsconfig.json`
 * @param paths of the sources, from the root
 */
export function readDeclaredRows(root: string, paths: readonly string[]): DeclaredRows[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects();
    if (project === undefined) throw new Error(`The compiler opened no project in ${root}`);
    return declaredIn(
      project,
      paths.map((path) => ({ path, absolute: join(root, path), text: readFileSync(join(root, path), 'utf8') })),
    );
  } finally {
    api.close();
  }
}

function declaredIn(
  project: Project,
  sources: readonly { readonly path: string; readonly absolute: string; readonly text: string }[],
): DeclaredRows[] {
  const declared = new Map<string, DeclaredRows>();
  const known = new Set<Node>();
  // A function that passes its type argument on is a reader, too: the next turn looks for its calls.
  for (let readers = READERS; readers.length > 0; ) {
    const passing: RowReader[] = [];
    const called = new RegExp(`\\b(?:${readers.map(({ name }) => name).join('|')})\\s*[(<]`);
    for (const { path, absolute, text } of sources) {
      const file = called.test(text) ? project.program.getSourceFile(absolute) : undefined;
      for (const { call, name, reader } of file === undefined ? [] : callsOf(file, readers)) {
        if (!isOf(project, call, reader)) continue;
        const row = rowOfCall(project, call, reader);
        if (row === undefined) continue;
        const parameter = row === null ? undefined : parameterIn(row);
        if (parameter === undefined) {
          const place = placeOf(call, path, name);
          declared.set(place, { place, awaitPlace: awaitPlaceOf(call, path), ...describe(project.checker, row) });
          continue;
        }
        const owner = ownerOf(project, parameter);
        if (owner === null || known.has(owner.declaration)) continue;
        known.add(owner.declaration);
        passing.push(owner);
      }
    }
    readers = passing;
  }
  return [...declared.values()];
}

function callsOf(file: SourceFile, readers: readonly RowReader[]) {
  const calls: { readonly call: CallExpression; readonly name: Node; readonly reader: RowReader }[] = [];
  const visit = (node: Node): void => {
    if (isCallExpression(node)) {
      const { expression } = node;
      const name = isPropertyAccessExpression(expression) ? expression.name : expression;
      if (isIdentifier(name))
        for (const reader of readers) if (reader.name === name.text) calls.push({ call: node, name, reader });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return calls;
}

function isOf(project: Project, call: CallExpression, { declaration }: RowReader): boolean {
  if (declaration === null) return true;
  return project.checker.getResolvedSignature(call)?.declaration?.resolve(project) === declaration;
}

/** The type of the rows; null if nothing becomes of them, undefined if the call is of no generic function. */
function rowOfCall(
  project: Project,
  call: CallExpression,
  { index, declaration }: RowReader,
): Type | null | undefined {
  const { checker } = project;
  const given = call.typeArguments?.[index];
  if (given !== undefined) return checker.getTypeFromTypeNode(given);
  // The rest is inferred, which takes the compiler long.
  if (declaration === null && isStatement(call)) return null;
  const signature = checker.getResolvedSignature(call);
  const generic = signature?.getTarget();
  const parameter = generic?.getTypeParameters()[index];
  if (signature === undefined || generic === undefined || parameter === undefined) return undefined;
  const [from, to] = [checker.getReturnTypeOfSignature(generic), checker.getReturnTypeOfSignature(signature)];
  // What comes back as it was given, as a stream of `pg` does, is no row.
  if (from?.id === parameter.id) return undefined;
  return from === undefined || to === undefined ? undefined : instanceOf(checker, parameter, from, to);
}

/** Whether nothing becomes of the result. */
function isStatement({ parent }: CallExpression): boolean {
  return isExpressionStatement(isAwaitExpression(parent) ? parent.parent : parent);
}

/** What stands in a type where its generic form has the parameter. */
function instanceOf(checker: Checker, parameter: Type, generic: Type, type: Type): Type | undefined {
  if (generic.id === parameter.id) return type;
  if (!generic.isTypeReference() || !type.isTypeReference()) return undefined;
  const arguments_ = checker.getTypeArguments(type);
  for (const [index, argument] of checker.getTypeArguments(generic).entries()) {
    const other = arguments_[index];
    const found = other === undefined ? undefined : instanceOf(checker, parameter, argument, other);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The type parameter that the row is, or is made of. */
function parameterIn(type: Type): Type | undefined {
  if (type.isTypeParameter()) return type;
  if (type.isUnionType() || type.isIntersectionType())
    return (type.getTypes() ?? []).map(parameterIn).find((found) => found !== undefined);
  return type.isIndexedAccessType() ? parameterIn(type.getObjectType()) : undefined;
}

/** The function that has the type parameter; null if no call can name it. */
function ownerOf(project: Project, parameter: Type): (RowReader & { readonly declaration: Node }) | null {
  const node = parameter.getSymbol()?.declarations[0]?.resolve(project);
  const owner = node?.parent;
  const name = owner === undefined ? undefined : nameOf(owner);
  if (node === undefined || owner === undefined || name === undefined) return null;
  return { name, index: placeAmong(node, owner), declaration: owner };
}

function placeAmong(parameter: Node, owner: Node): number {
  let [place, before] = [0, 0];
  owner.forEachChild((child) => {
    if (child === parameter) place = before;
    if (child.kind === parameter.kind) before += 1;
  });
  return place;
}

/** Name of a function or method; of the variable that holds a function; of a function type, as a value of it is called. */
function nameOf(node: Node): string | undefined {
  for (let named: Node | undefined = node; named !== undefined; named = named.parent) {
    const name: unknown = Reflect.get(named, 'name');
    if (typeof name !== 'object' || name === null || !('text' in name) || typeof name.text !== 'string') continue;
    return `${name.text.charAt(0).toLowerCase()}${name.text.slice(1)}`;
  }
  return undefined;
}

function describe(checker: Checker, row: Type | null): Pick<DeclaredRows, 'type' | 'columns'> {
  return row === null
    ? { type: 'unknown', columns: [] }
    : { type: checker.typeToString(row), columns: columnsOfType(checker, row) };
}

function awaitPlaceOf(call: CallExpression, path: string): string | null {
  return isAwaitExpression(call.parent) ? placeOf(call, path, call.parent) : null;
}

function placeOf(call: CallExpression, path: string, node: Node): string {
  const file = call.getSourceFile();
  const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
  return `${path}:${line + 1}:${character + 1}`;
}
