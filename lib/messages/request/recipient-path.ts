import * as v from 'valibot';
import { documentedAs } from '../../http/documented.ts';
import { butReceived } from '../../http/shown.ts';
import { addresseeForm, addresseeOf, addresseeWords } from './addressee.ts';

/** One recipient in a path, spelled as a send spells it; every spelling of one becomes the same (D55). */
export const RecipientPath = v.object({
  recipient: v.pipe(
    v.string(),
    v.regex(addresseeForm, butReceived(`recipient ${addresseeWords}`)),
    v.transform(addresseeOf),
    documentedAs(() => v.pipe(v.string(), v.regex(addresseeForm))),
  ),
});
