import type { BodyReader } from './body.ts';
import { type Endpoint, endpoint } from './endpoint.ts';

/** The page of a public route: nobody is asked who they are. `body` says what the page reads of a body, if anything. */
export function publicEndpoint(body: BodyReader, handle: Endpoint): Endpoint {
  return endpoint([body], handle);
}
