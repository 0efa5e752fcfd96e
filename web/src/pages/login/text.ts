import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    title: 'Sign in',
    email: 'E-mail or user name',
    password: 'Password',
    enter: 'Sign in',
    switching: 'Another organization',
    switchBody: (name: string) =>
      `This link belongs to ${name}. Your session is in another organization.`,
    switchTo: (name: string) => `Go to ${name}`,
    notMember: 'You are not a member of it.',
    back: 'Back to the dashboard',
  },
  {
    title: 'Entrar',
    email: 'Correo o nombre de usuario',
    password: 'Contraseña',
    enter: 'Entrar',
    switching: 'Otra organización',
    switchBody: (name: string) => `Este enlace es de ${name}. Tu sesión está en otra organización.`,
    switchTo: (name: string) => `Ir a ${name}`,
    notMember: 'No eres miembro de ella.',
    back: 'Volver al panel',
  },
)
