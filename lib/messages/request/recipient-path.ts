import * as v from 'valibot';
import { documentedAs } from '../../http/documented.ts';
import { butReceived } from '../../http/shown.ts';
import { addresseeForm, addresseeOf, addresseeWords } from './addressee.ts';

/** A recipient in a path; all spellings of one recipient become equal (D55). */
export const RecipientPath = v.object({
  recipient: v.pipe(
    v.string(),
    v.regex(addresseeForm, butReceived(`recipient ${addresseeWords}`)),
    v.transform(addresseeOf),
    documentedAs(() => v.pipe(v.string(), v.regex(addresseeForm))),
  ),
});
