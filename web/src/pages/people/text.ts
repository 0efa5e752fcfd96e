import { catalogue, plural } from '../../lib/i18n'

export const useText = catalogue(
  {
    members: (n: number) => plural(n, 'member', 'members'),
    invite: 'Invite',
    inviteTitle: 'Invite a person',
    email: 'E-mail',
    name: 'Name',
    level: 'Level',
    tags: 'Tags',
    tagsHelp: 'key:value; approvals and ACLs can name a tag',
    linkTitle: 'One-time link',
    linkBody: 'Send this link to the person. It works once and is shown only once.',
    linkLocal:
      'This link works only on this machine, because it contains a local address. Open the console at an address that the person can reach, and create the link there.',
    linkLocalHow: 'How to start the server with such an address',
    invited: 'Invited, not yet accepted',
    disabled: 'Disabled',
    active: 'Active',
    you: 'you',
    disable: 'Disable',
    enable: 'Enable',
    remove: 'Remove member',
    resetLink: 'Link for a new password',
    newInvitation: 'New invitation',
    resetFactor: 'Remove the second factor',
    resetFactorBody:
      'The person signs in with the password alone until they set up a new second factor. Do this only if they have lost their device and their recovery codes.',
    removeBody:
      'The person leaves the organization and all its access lists. Their actions stay in the audit log.',
    levels: 'What each level may do',
    may: {
      viewer:
        'Sees hosts, and objects whose access list names them. Decides approvals that name them.',
      user: 'Runs objects whose access list names them; cancels, answers and resolves their jobs.',
      manager: 'Sees everything; edits access lists, and members up to their own level.',
      admin: 'Runs and edits everything; tokens, secret keys, hosts.',
      owner: 'Can also rename, delete and transfer the organization.',
    } as Record<string, string>,
    handOver: 'Transfer organization',
    handOverBody: (name: string) => `${name} becomes the owner and you become admin.`,
    levelOf: (name: string) => `Level of ${name}`,
    changed: 'Changed',
  },
  {
    members: (n: number) => plural(n, 'miembro', 'miembros'),
    invite: 'Invitar',
    inviteTitle: 'Invitar a una persona',
    email: 'Correo',
    name: 'Nombre',
    level: 'Nivel',
    tags: 'Etiquetas',
    tagsHelp: 'clave:valor; las aprobaciones y listas de acceso pueden nombrar una etiqueta',
    linkTitle: 'Enlace de un solo uso',
    linkBody: 'Envía este enlace a la persona. Sirve una vez y solo se muestra ahora.',
    linkLocal:
      'Este enlace solo funciona en esta máquina, porque contiene una dirección local. Abre la consola en una dirección a la que la persona llegue y crea el enlace allí.',
    linkLocalHow: 'Cómo iniciar el servidor con una dirección así',
    invited: 'Invitado, aún no ha aceptado',
    disabled: 'Desactivado',
    active: 'Activo',
    you: 'tú',
    disable: 'Desactivar',
    enable: 'Activar',
    remove: 'Quitar miembro',
    resetLink: 'Enlace para otra contraseña',
    newInvitation: 'Nueva invitación',
    resetFactor: 'Quitar el segundo factor',
    resetFactorBody:
      'La persona entra solo con la contraseña hasta que configure otro segundo factor. Hazlo solo si perdió su dispositivo y sus códigos de recuperación.',
    removeBody:
      'La persona deja la organización y todas sus listas de acceso. Sus acciones quedan en la auditoría.',
    levels: 'Qué puede hacer cada nivel',
    may: {
      viewer:
        'Ve los equipos y los objetos cuya lista de acceso le nombra. Decide las aprobaciones que le nombran.',
      user: 'Ejecuta los objetos cuya lista de acceso le nombra; cancela, responde y resuelve sus trabajos.',
      manager: 'Ve todo; edita listas de acceso y miembros hasta su propio nivel.',
      admin: 'Ejecuta y edita todo; tokens, claves secretas, equipos.',
      owner: 'También puede renombrar, borrar y transferir la organización.',
    } as Record<string, string>,
    handOver: 'Transferir la organización',
    handOverBody: (name: string) =>
      `${name} será quien posea la organización y tú pasarás a admin.`,
    levelOf: (name: string) => `Nivel de ${name}`,
    changed: 'Cambiado',
  },
)
