import { type Checker, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync';

/** A column as a row type declares it. */
export interface DeclaredColumn {
  readonly name: string;
  /** Kinds as in `kindOf` (packages/doors/db/src/testing/observed-rows.ts); `any` for all. */
  readonly kinds: readonly string[];
  /** Whether the column may be missing. */
  readonly isOptional: boolean;
}

/** The columns that a row type names; none for `object` or `Record<string, unknown>`. */
export function columnsOfType(checker: Checker, row: Type): DeclaredColumn[] {
  if ((row.flags & (TypeFlags.Object | TypeFlags.Intersection | TypeFlags.Union)) === 0) return [];
  return checker.getPropertiesOfType(row).map((property) => {
    const type = checker.getTypeOfSymbol(property);
    return {
      name: property.name,
      kinds: type === undefined ? ['any'] : [...new Set(kindsOfType(checker, type))],
      isOptional: (property.flags & SymbolFlags.Optional) !== 0,
    };
  });
}

function kindsOfType(checker: Checker, type: Type): string[] {
  const { flags } = type;
  if ((flags & TypeFlags.StringLike) !== 0) return ['string'];
  if ((flags & TypeFlags.NumberLike) !== 0) return ['number'];
  if ((flags & TypeFlags.BooleanLike) !== 0) return ['boolean'];
  if ((flags & TypeFlags.BigIntLike) !== 0) return ['bigint'];
  if ((flags & (TypeFlags.Null | TypeFlags.Undefined)) !== 0) return ['null'];
  if (type.isUnionType()) return (type.getTypes() ?? []).flatMap((part) => kindsOfType(checker, part));
  if (type.isIntersectionType()) {
    // A branded type is one of its base.
    const kinds = (type.getTypes() ?? []).flatMap((part) => kindsOfType(checker, part));
    const plain = kinds.filter((kind) => kind !== 'object');
    return plain.length === 0 ? ['object'] : plain;
  }
  return (flags & TypeFlags.Object) === 0 ? ['any'] : kindsOfObject(checker, type);
}

function kindsOfObject(checker: Checker, type: Type): string[] {
  if (checker.isArrayLikeType(type)) {
    const elements = type.isTypeReference() ? checker.getTypeArguments(type) : [];
    const kinds = elements.flatMap((element) => kindsOfType(checker, element));
    return kinds.length === 0 ? ['any[]'] : kinds.map((kind) => `${kind}[]`);
  }
  const name = type.getSymbol()?.name;
  if (name === 'Date') return ['Date'];
  if (name === 'Buffer' || name === 'Uint8Array') return ['Buffer'];
  return ['object'];
}
