import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    changed: (who: string) => `Changed by ${who} in the meantime.`,
    someoneElse: 'someone else',
    notSaved: 'Your edits are still here, not saved.',
    refused: 'Not saved: someone else changed it in the meantime.',
    show: 'Show the difference',
    theirs: 'Use theirs',
    keep: 'Keep mine',
    keepHelp:
      'Keep mine: your edits are applied on top of their version; saving replaces the fields that both of you changed. Use theirs: your edits are discarded.',
    difference: 'What they changed',
    alsoEdited: 'also changed by you',
    before: 'was',
    after: 'is now',
  },
  {
    changed: (who: string) => `Mientras tanto lo cambió ${who}.`,
    someoneElse: 'otra persona',
    notSaved: 'Tus cambios siguen aquí, sin guardar.',
    refused: 'No se guardó: otra persona lo cambió mientras tanto.',
    show: 'Ver la diferencia',
    theirs: 'Usar lo suyo',
    keep: 'Dejar lo mío',
    keepHelp:
      'Dejar lo mío: tus cambios se aplican sobre su versión; al guardar se sustituyen los campos que ambos cambiasteis. Usar lo suyo: tus cambios se descartan.',
    difference: 'Qué cambió',
    alsoEdited: 'también lo cambiaste tú',
    before: 'era',
    after: 'ahora es',
  },
)
