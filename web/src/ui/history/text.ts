import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    noAudit: 'Admins see who changed the definition.',
    noChanges: 'Nothing is written down.',
  },
  {
    noAudit: 'Los administradores ven quién cambió la definición.',
    noChanges: 'No hay nada escrito.',
  },
)
