print('from python')
