import * as v from 'valibot';
import { wholeNumber } from '../http/documented.ts';

/** A client in the list of clients (D59). */
export const ListedClientSchema = v.object({ id: wholeNumber, name: v.string() });
