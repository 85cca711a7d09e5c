import { type Fraction, nearestNumber } from '@chainstead/core';
import { inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';

/** A field with one figure per window. @param windows names and descriptions @param value of the window at a place */
export function overWindows<Source>(
  name: string | null,
  description: string,
  windows: Readonly<Record<string, string>>,
  value: (source: Source, at: number) => Fraction | number | null,
) {
  const fields = Object.entries(windows).map(([window, about], at) => [
    window,
    figure.orNull(about, (source: Source) => value(source, at)),
  ]);
  const figures = view(name, (source: Source) => source, Object.fromEntries(fields));
  return inside(figures)(description, (source: Source) => source);
}

const figure = wire.wire(z.number(), (value: Fraction | number) =>
  typeof value === 'number' ? value : nearestNumber(value),
);
