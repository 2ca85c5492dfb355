import * as v from 'valibot';
import { wholeNumber } from '../http/documented.ts';

export const ListedClientSchema = v.object({ id: wholeNumber, name: v.string() });
