import type {
  Client,
  ClientPathsWithMethod,
  MaybeOptionalInit,
  MethodResponse,
} from 'openapi-fetch';
import type { OPERATIONS } from './generated/operations.ts';
import type { paths } from './generated/schema.ts';

/** The types of calls. All come from the API's document. */

export type Api = Client<paths, 'application/json'>;
export type Method = 'get' | 'post' | 'delete';

/** The paths that have an operation of this method. */
export type PathsOf<AMethod extends Method> = ClientPathsWithMethod<Api, AMethod>;

/** What a call takes: parameters and body of its operation, and a signal that ends it. */
export type Init<AMethod extends Method, Path extends PathsOf<AMethod>> = Pick<
  NonNullable<MaybeOptionalInit<paths[Path], AMethod>>,
  'params' | 'body' | 'signal'
>;

/** What follows the path. It may be left out where nothing of it is required. */
export type Arguments<AMethod extends Method, Path extends PathsOf<AMethod>> =
  undefined extends MaybeOptionalInit<paths[Path], AMethod>
    ? [init?: Init<AMethod, Path>]
    : [init: Init<AMethod, Path>];

/** Calls one operation and returns the body of its answer. @throws MalipoError */
export type Call<AMethod extends Method> = <Path extends PathsOf<AMethod>>(
  path: Path,
  ...init: Arguments<AMethod, Path>
) => Promise<MethodResponse<Api, AMethod, Path>>;

/** Each operation of the document as a function of its own, by the operation's id. */
export type NamedCalls = {
  [Id in keyof typeof OPERATIONS]: NamedCall<(typeof OPERATIONS)[Id]>;
};

type NamedCall<Operation> = Operation extends readonly [
  infer AMethod extends Method,
  infer Path extends string,
]
  ? Path extends PathsOf<AMethod>
    ? (...init: Arguments<AMethod, Path>) => Promise<MethodResponse<Api, AMethod, Path>>
    : never
  : never;

/** The paths of lists. */
export type ListPath = {
  [Path in PathsOf<'get'>]: MethodResponse<Api, 'get', Path> extends Page<unknown> ? Path : never;
}[PathsOf<'get'>];

/** A record of a list. */
export type Item<Path extends ListPath> =
  MethodResponse<Api, 'get', Path> extends Page<infer Each> ? Each : never;

export interface Page<Each> {
  results: Each[];
  next: string | null;
}
