export function mapValues<Value, Changed>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Changed,
): Record<string, Changed> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}

export function mapOperations<Operation, Changed>(
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>,
  change: (operation: Operation, id: string) => Changed,
): Record<string, Record<string, Changed>> {
  return mapValues(paths, (operations, path) =>
    mapValues(operations, (operation, method) => change(operation, `${method.toUpperCase()} ${path}`)),
  );
}
