import * as v from 'valibot';
import { controlRoutes } from './control.ts';
import { ControlError } from './control-error.ts';
import type { ControlRequest, Simulation } from './control-route.ts';

export interface ControlReply {
  readonly status: number;
  readonly body: unknown;
}

const withId = new Set(
  controlRoutes.flatMap(({ path }) => {
    const [before = '', after] = path.split('/{id}');
    return after === undefined ? [] : [before];
  }),
);

/** Puts `{id}` in the place of a path's id, which is returned still encoded. */
function placed(path: string): { readonly path: string; readonly id: string } {
  const parts = path.split('/');
  const at = parts.findIndex((part, index) => part !== '' && withId.has(parts.slice(0, index).join('/')));
  if (at < 0) return { path, id: '' };
  return { path: [...parts.slice(0, at), '{id}', ...parts.slice(at + 1)].join('/'), id: parts[at] ?? '' };
}

/** Answers 200; 400 with the field; 404 for an unknown route or id; 405 for another method. */
export async function answerControl(simulation: Simulation, request: ControlRequest): Promise<ControlReply> {
  const { path, id: encodedId } = placed(request.path);
  const id = decoded(encodedId);
  const here = controlRoutes.filter((route) => route.path === path);
  const route = here.find((candidate) => candidate.method === request.method);
  if (here.length === 0) {
    return { status: 404, body: { message: `there is no ${request.path}; GET / lists the routes` } };
  }
  if (route === undefined) {
    return { status: 405, body: { message: `${path} takes ${here.map((one) => one.method).join(' and ')}` } };
  }
  try {
    const body = await route.run(simulation, request, id);
    if (route.method !== 'GET' && route.changesNothing !== true) simulation.controlled.times += 1;
    return { status: 200, body };
  } catch (error) {
    if (error instanceof ControlError) {
      return { status: error.status, body: { message: `${error.field} ${error.message}`, field: error.field } };
    }
    if (error instanceof v.ValiError) {
      const field = v.getDotPath(error.issues[0]) ?? 'body';
      return { status: 400, body: { message: `${field}: ${error.issues[0].message}`, field } };
    }
    throw error;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
