import type { RouteModule } from '@chainstead/http';
import type { Dataset } from '@chainstead/sync';

export interface DatasetEndpoint {
  readonly dataset: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** For `/docs`: parameters with the columns that fill them. */
  readonly example: Readonly<Record<string, string>>;
}

/** Table in its `schema.ts`, view in `analytics.sql`. Register it in `manifests.ts`. */
export interface DatasetManifest<Row = unknown> extends Dataset<Row> {
  readonly summary: string;
  /** For this dataset alone; `dataset-routes.ts` joins several. */
  readonly endpoints: readonly DatasetEndpoint[];
  loadRoutes(): Promise<{ readonly routes: readonly RouteModule[] }>;
}
