import { firstNumber, recipient, type SimulatorAtRest, templateMessage } from './simulator.ts';
import { validSends } from './valid-sends.ts';

/** The recipient has this id in the portfolio of the first WABA. */
export const userId = 'AR.13607919076743524463';

/** People act on the first number, and get messages. */
export function actingPeople(simulator: Pick<SimulatorAtRest, 'control' | 'post'>) {
  const person = (call: string, body: object, to = recipient) =>
    simulator.control('POST', `recipients/${to}${call}`, { phone_number_id: firstNumber, ...body });
  return {
    person,
    sent: (name: 'order_update' | 'welcome_offer' | 'login_code', address: object, number = firstNumber) => {
      const { to: _, ...message } = templateMessage(name, validSends[name].components, validSends[name].language);
      return simulator.post(`${number}/messages`, { ...message, ...address });
    },
    textTo: (address: object) =>
      simulator.post(`${firstNumber}/messages`, {
        ...{ messaging_product: 'whatsapp', type: 'text', text: { body: 'Hello' } },
        ...address,
      }),
    says: (to = recipient, text = 'Hi') => person('/message', { text }, to),
    overview: async () => (await simulator.control('GET', 'overview')).body,
  };
}
