import type { RouteModule } from '@chainstead/http';
import type { Dataset } from '@chainstead/sync';

/** A route of a dataset, as far as documents show it. `defineListRoute` takes path, operation and summary from it. */
export interface DatasetEndpoint {
  readonly dataset: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Parameters of `/docs`, filled in from a stored row: a column of the dataset's table for each. */
  readonly example: Readonly<Record<string, string>>;
}

/** Table and placement stand in its `schema.ts`, the view in `analytics.sql`. Register it in `manifests.ts`. */
export interface DatasetManifest<Row = unknown> extends Dataset<Row> {
  readonly summary: string;
  /** Those that read this dataset alone; what joins several is put together in `dataset-routes.ts`. */
  readonly endpoints: readonly DatasetEndpoint[];
  /** The routes of the endpoints. Loaded where the API runs: who only fills datasets loads no routes. */
  loadRoutes(): Promise<{ readonly routes: readonly RouteModule[] }>;
}
